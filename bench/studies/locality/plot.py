"""Draws a plot of a few lines as SVG."""

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 110, 30, 50
COLORS = ["#c0392b", "#2471a3", "#1e8449"]


def svg(title, x_label, lines):
    """Returns the SVG. `lines` maps names to lists of (x, y)."""
    greatest_x = max(x for line in lines.values() for x, _ in line)
    greatest_y = max(y for line in lines.values() for _, y in line)
    # So that the quarters are round numbers.
    digit = 10 ** (len(f"{greatest_y:.0f}") - 1)
    greatest_y = -(-greatest_y // digit) * digit

    def place(x, y):
        across = LEFT + (WIDTH - LEFT - RIGHT) * x / greatest_x
        down = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / greatest_y
        return f"{across:.1f},{down:.1f}"

    def text(across, down, words, anchor="middle", color="#333"):
        return f'<text x="{across}" y="{down}" text-anchor="{anchor}" fill="{color}">{words}</text>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="15">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(WIDTH / 2, 18, title),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_label),
        f'<polyline fill="none" stroke="#333" points="{place(0, greatest_y)} {place(0, 0)} {place(greatest_x, 0)}"/>',
    ]
    for quarter in range(5):
        x, y = greatest_x * quarter / 4, greatest_y * quarter / 4
        across, down = place(x, y).split(",")
        parts.append(text(across, HEIGHT - BOTTOM + 16, f"{x:,.0f}"))
        parts.append(text(LEFT - 6, float(down) + 4, f"{y:,.0f}", "end"))
    for (name, line), color in zip(lines.items(), COLORS):
        points = " ".join(place(x, y) for x, y in line)
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{points}"/>')
        across, down = place(*line[-1]).split(",")
        parts.append(text(float(across) + 6, float(down) + 4, name, "start", color))
    return "\n".join(parts) + "\n</svg>\n"
