"""rock.py FILE: packs a rock again, with SOURCE_DATE_EPOCH. LuaRocks keeps the order, times and modes that its files happen to have."""

import os
import sys
import time
import zipfile

rock = sys.argv[1]
moment = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
with zipfile.ZipFile(rock) as packed:
    files = {name: packed.read(name) for name in packed.namelist() if not name.endswith("/")}
with zipfile.ZipFile(rock, "w", zipfile.ZIP_DEFLATED) as again:
    for name in sorted(files):
        file = zipfile.ZipInfo(name, moment)
        file.external_attr = 0o644 << 16
        again.writestr(file, files[name], zipfile.ZIP_DEFLATED)
