//! `txid new`: makes ids, one per line.

use crate::args::{Format, New};
use crate::time;
use anyhow::{Context, Result, anyhow, bail};
use std::io::{BufWriter, Write, stdout};
use std::net::Ipv4Addr;
use std::process::ExitCode;
use txid::segment::Segment;
use txid::snowflake::{self, Generator, Layout, State};
use txid::trace::{self, B3, Sampling, SkyWalking, Sofa, Traceparent};
use txid::{Flake, Txid, UniqueId, uuid};

pub fn run(args: &New) -> Result<ExitCode> {
    let at = args.at.as_deref().map(|text| time::parse("--at", text)).transpose()?;
    let make = maker(args, at)?;
    let mut out = BufWriter::new(stdout().lock());
    for _ in 0..args.count {
        writeln!(out, "{}", make()?).context("standard output")?;
    }
    out.flush().context("standard output")?;
    Ok(ExitCode::SUCCESS)
}

type Maker = Box<dyn Fn() -> Result<String>>;

fn maker(args: &New, at: Option<i64>) -> Result<Maker> {
    fn any<T: ToString>(make: impl Fn() -> T + 'static) -> Result<Maker> {
        Ok(Box::new(move || Ok(make().to_string())))
    }
    if (args.node.is_some() || args.layout.is_some()) && args.format != Format::Snowflake {
        bail!("--node and --layout are for --format snowflake");
    }
    if args.state.is_some() && !matches!(args.format, Format::Snowflake | Format::Segment) {
        bail!("--state is for --format snowflake or segment");
    }
    match args.format {
        Format::Txid => any(move || at.map_or_else(Txid::now, Txid::at)),
        Format::Strong => Ok(Box::new(move || Ok(at.map_or_else(Txid::strong, Txid::strong_at)?.to_string()))),
        Format::UuidV7 => any(move || at.map_or_else(uuid::v7, uuid::v7_at)),
        Format::Flake => any(move || at.map_or_else(|| Flake::now(None), |ms| Flake::at(ms, None))),
        Format::UniqueId => any(move || at.map_or_else(UniqueId::long, UniqueId::long_at)),
        Format::UniqueIdShort => {
            let address = address()?;
            any(move || at.map_or_else(|| UniqueId::short(address), |ms| UniqueId::short_at(ms, address)))
        }
        Format::TraceId => any(move || at.map_or_else(trace::id, |ms| trace::id_at(ms, 0))),
        Format::TraceHostId => {
            let host = trace::host_word(address()?.into());
            any(move || at.map_or_else(|| trace::host_id(host), |ms| trace::host_id_at(ms, 0, host)))
        }
        _ if at.is_some() => bail!("--at: ids of this format carry no time, or only the current time"),
        Format::UuidV1 => any(|| uuid::v1(None)),
        Format::UuidV4 => any(uuid::v4),
        Format::OtelTraceId => any(trace::otel_trace_id),
        Format::SpanId => any(trace::span_id),
        Format::Sofa => {
            let address = address()?;
            any(move || Sofa::new(address))
        }
        Format::Skywalking => any(SkyWalking::new),
        Format::Traceparent => any(|| Traceparent::new(true)),
        Format::B3 => any(|| B3::new(Some(Sampling::Accept))),
        Format::Snowflake => {
            let generator = generator(args)?;
            Ok(Box::new(move || Ok(generator.next()?.to_string())))
        }
        Format::Segment => {
            let state =
                args.state.as_ref().context("--format segment needs --state with the file that txid-agent keeps")?;
            let segment = Segment::attach(state)?;
            Ok(Box::new(move || Ok(segment.next()?.to_string())))
        }
    }
}

fn generator(args: &New) -> Result<Generator> {
    let (Some(node), Some(state)) = (&args.node, &args.state) else {
        bail!("--format snowflake needs --node, and --state with the file that all users of that node share");
    };
    let layout: Layout = args.layout.as_deref().unwrap_or("snowflake").parse()?;
    if node == "lease" {
        return Ok(Generator::new(State::leased(state, &layout)?));
    }
    Ok(Generator::new(State::open(state, &layout, snowflake::node(node, &layout)?)?))
}

fn address() -> Result<Ipv4Addr> {
    txid::host_ipv4().ok_or_else(|| anyhow!("this format needs an IPv4 address of this host, and none was found"))
}
