use super::*;
use netloom_fuzz::{fuzz, mutated};
use proptest::sample::select;

const HEIGHT: Metres = Metres(1.5);
const GROUND: Ground = Ground { height: HEIGHT, origin: None };

fn at(millis: u64, x: f64, y: f64) -> Waypoint {
    Waypoint { at: Duration::from_millis(millis), position: Position { x: Metres(x), y: Metres(y), z: HEIGHT } }
}

fn wrong(text: &str, format: TrackFormat) -> (usize, String) {
    let WrongLine(line, message) = read(text, format, GROUND, 1_000).expect_err(text);
    (line, message)
}

#[test]
fn commands_of_ns_2_are_followed() {
    let text = "# nodes: 2\n$node_(0) set X_ 0.0\n$node_(0) set Y_ 10\n$node_(0) set Z_ 0.000000000000\n$god_ set-dist 0 1 2\n\
                $ns_ at 12.0 \"$node_(0) setdest 0 10 1.0\"\n$ns_ at 2.000000000 \"$node_(0) setdest 30.0 50.0 5.0\"\n\
                $ns_ at 3.0 \"$god_ set-dist 0 1 1\"\n$node_(1) set X_ 7\n$node_(1) set Y_ 7\n\
                $ns_ at 20.0 \"$node_(0) setdest 99 99 0.0\"\n";
    let tracks = read(text, TrackFormat::Setdest, GROUND, 1_000).expect("it is understood");
    // 50 m with 5 m/s; half of it to the north-east would be at 7 s. At 12 s it is there, and walks back 50 m for 8 s, 8 m.
    let expected = [at(0, 0.0, 10.0), at(2_000, 0.0, 10.0), at(12_000, 30.0, 50.0), at(20_000, 25.2, 43.6)];
    assert_eq!(tracks["0"].len(), 4);
    for (found, wanted) in tracks["0"].iter().zip(expected) {
        let off = (found.position.x.0 - wanted.position.x.0).abs() + (found.position.y.0 - wanted.position.y.0).abs();
        assert!(found.at == wanted.at && off < 1e-9, "{found:?}, not {wanted:?}");
    }
    assert_eq!(tracks["1"], [at(0, 7.0, 7.0)]);
}

#[test]
fn lines_of_bonnmotion_are_nodes() {
    let text = "0.0 1.0 2.0 10.5 3.0 4.0\n\n# a remark\n0 5 5\n";
    let tracks = read(text, TrackFormat::BonnMotion, GROUND, 1_000).expect("it is understood");
    assert_eq!(tracks["0"], [at(0, 1.0, 2.0), at(10_500, 3.0, 4.0)]);
    assert_eq!(tracks["1"], [at(0, 5.0, 5.0)]);
    assert_eq!(tracks.len(), 2);
}

#[test]
fn tables_have_columns_by_name() {
    let text = "node, time,y,x,z\nbob,0,2,1,3\nann,0.25,0,0,1\nbob,1.5,4,3,3\n";
    let tracks = read(text, TrackFormat::Csv, GROUND, 1_000).expect("it is understood");
    let high = |waypoint: Waypoint| Waypoint { position: Position { z: Metres(3.0), ..waypoint.position }, ..waypoint };
    assert_eq!(tracks["bob"], [high(at(0, 1.0, 2.0)), high(at(1_500, 3.0, 4.0))]);
    assert_eq!(tracks["ann"].len(), 1);
    let plain = read("time,x,y\n0,1,2\n1,2,2\n", TrackFormat::Csv, GROUND, 1_000).expect("it is understood");
    assert_eq!(plain[""], [at(0, 1.0, 2.0), at(1_000, 2.0, 2.0)]);
}

const GPX: &str = r#"<?xml version="1.0"?>
<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="0" lon="0"/>
<trk><name>ann</name>
<trkseg><trkpt lat="48.0" lon="11.0"><ele>520</ele><time>2026-11-01T12:00:00.25Z</time></trkpt></trkseg>
<trkseg><trkpt lat="48.001" lon="11.0"><time>2026-11-01T13:00:10+01:00</time></trkpt></trkseg></trk>
<trk><name>bob</name><trkseg><trkpt lat="48.0" lon="10.999"><time>2026-11-01T12:00:00Z</time></trkpt></trkseg></trk>
</gpx>"#;

const KML: &str = r#"<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Document>
<Placemark><name>tram</name><gx:Track><when>2026-11-01T12:00:00Z</when><when>2026-11-01T12:00:02Z</when>
<gx:coord>179.9999 60.0 0</gx:coord><gx:coord>-179.9999 60.0 0</gx:coord></gx:Track></Placemark>
</Document></kml>"#;

const FCD: &str = r#"<fcd-export>
<timestep time="0.00"><vehicle id="v0" x="5.1" y="-1.6" angle="90" speed="0.0"/><person id="p" x="0" y="0"/></timestep>
<timestep time="1.50"><vehicle id="v0" x="6.1" y="-1.6"/></timestep>
</fcd-export>"#;

/// A degree of latitude is R pi / 180 = 111,195.08 m long.
#[test]
fn recorded_tracks_become_metres_from_the_first_place() {
    let tracks = read(GPX, TrackFormat::Gpx, GROUND, 1_000).expect("it is understood");
    assert_eq!(tracks["ann"], [at(250, 0.0, 0.0), at(10_000, 0.0, 111.195)]);
    assert_eq!(tracks["bob"], [at(0, -74.404, 0.0)]);
    // From an origin a tenth of a degree to the south.
    let origin = Origin::new(47.9, 11.0).ok();
    let from_there = read(GPX, TrackFormat::Gpx, Ground { origin, ..GROUND }, 1_000).expect("it is understood");
    assert_eq!(from_there["ann"][0], at(250, 0.0, 11_119.508));
    // The short way over the line of dates.
    let short = read(KML, TrackFormat::Kml, GROUND, 1_000).expect("it is understood");
    assert_eq!(short["tram"], [at(0, 0.0, 0.0), at(2_000, 11.12, 0.0)]);
}

#[test]
fn what_sumo_moves_has_metres_or_degrees() {
    let tracks = read(FCD, TrackFormat::Fcd, GROUND, 1_000).expect("it is understood");
    assert_eq!(tracks["v0"], [at(0, 5.1, -1.6), at(1_500, 6.1, -1.6)]);
    assert_eq!(tracks["p"], [at(0, 0.0, 0.0)]);
    let degrees =
        FCD.replace("-1.6", "48.001").replace("5.1", "11.0").replace("6.1", "11.0").replace("y=\"0\"", "y=\"48\"");
    let ground = Ground { origin: Origin::new(48.0, 11.0).ok(), ..GROUND };
    let in_degrees = read(&degrees, TrackFormat::Fcd, ground, 1_000).expect("it is understood");
    assert_eq!(in_degrees["v0"][0], at(0, 0.0, 111.195));
}

#[test]
fn wrong_elements_are_named_by_their_lines() {
    use TrackFormat::{Fcd, Gpx, Kml};
    let cases = [
        (Gpx, GPX.replace("48.001", "98"), 5, "a latitude is from -89 to 89 degrees"),
        (Gpx, GPX.replace("lon=\"10.999\"", ""), 6, "`` is not a longitude in degrees"),
        (Gpx, GPX.replace("T13:00:10+01:00", "T12:00:00Z"), 5, "times rise"),
        (Gpx, GPX.replace("<time>2026-11-01T13:00:10+01:00</time>", ""), 5, "a point without `time`"),
        (Gpx, GPX.replace("12:00:00.25Z", "noon"), 4, "`2026-11-01Tnoon` is not an instant"),
        (Gpx, GPX.replace("12:00:00.25Z", "25:00:00Z"), 4, "is not an instant"),
        (Gpx, GPX.replace("12:00:00.25Z", "12:00:00.Z"), 4, "is not an instant"),
        (Gpx, GPX.replace("</gpx>", ""), 1, "this is not XML"),
        (Kml, KML.replace("<when>2026-11-01T12:00:02Z</when>", ""), 2, "a track with 1 `when` and 2 `coord`"),
        (Fcd, FCD.replace("1.50", "1:30"), 3, "`1:30` is not a time in seconds"),
        (Fcd, FCD.replace("x=\"6.1\"", ""), 3, "`` is not an x in metres"),
        (Fcd, "<a>".repeat(200_000), 1, "this is not XML"),
        (Fcd, "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>".to_owned(), 1, "this is not XML"),
    ];
    for (format, text, line, expected) in cases {
        let (found, message) = wrong(&text, format);
        assert!(found == line && message.contains(expected), "{found}: {message}");
    }
    assert!(read("<gpx/>", Gpx, GROUND, 1_000).expect("it is understood").is_empty());
}

#[test]
fn wrong_lines_are_named() {
    use TrackFormat::{BonnMotion, Csv, Setdest};
    let begin = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n";
    let cases = [
        (Setdest, "$node_(0) set X_ 5\n".to_owned(), 1, "begins nowhere"),
        (Setdest, format!("{begin}$ns_ at 2 \"$node_(0) setdest 1 1\"\n"), 3, "is not understood: write"),
        (Setdest, format!("{begin}puts hello\n"), 3, "`puts hello` is not understood"),
        (Setdest, format!("{begin}$ns_ at two \"$node_(0) setdest 1 1 1\"\n"), 3, "`two` is not a time in seconds"),
        (Setdest, format!("{begin}$ns_ at -2 \"$node_(0) setdest 1 1 1\"\n"), 3, "-2 is not a time from 0"),
        (Setdest, format!("{begin}$ns_ at 2 \"$node_(0) setdest 1 1 1e5\"\n"), 3, "at most 10000 m/s"),
        (Setdest, "$node_(0) set X_ left\n$node_(0) set Y_ 0\n".to_owned(), 1, "`left` is not an x in metres"),
        (BonnMotion, "0 1 1\n0 1 1 2\n".to_owned(), 2, "and here are 4 numbers"),
        (BonnMotion, "0 1 1 0 2 2\n".to_owned(), 1, "times rise"),
        (BonnMotion, "0 1 nan\n".to_owned(), 1, "`nan` is not a y in metres"),
        (BonnMotion, "0 1 1e9\n".to_owned(), 1, "at most 10000 km from the origin"),
        (Csv, "time,x\n0,1\n".to_owned(), 1, "there is no column `y`"),
        (Csv, "time,x,y,speed\n".to_owned(), 1, "`speed` is no name of a column"),
        (Csv, "time,x,y,x\n".to_owned(), 1, "there are two columns `x`"),
        (Csv, "time,x,y\n0,1\n".to_owned(), 2, "here are 2 columns, and names of 3"),
        (Csv, "time,x,y\n0,1,1\n0,1,1\n".to_owned(), 3, "times rise"),
        (Csv, "time,x,y\n0,1,1\n2e9,1,1\n".to_owned(), 3, "2e9 is not a time from 0"),
    ];
    for (format, text, line, expected) in cases {
        let (found, message) = wrong(&text, format);
        assert!(found == line && message.contains(expected), "{text}{found}: {message}");
    }
    let many: String =
        std::iter::once("time,x,y\n".to_owned()).chain((0..1_001).map(|at| format!("{at},1,1\n"))).collect();
    assert!(wrong(&many, Csv).1.contains("together have at most"));
}

/// Whatever is in a file, it is refused, or all that is read of it makes paths.
#[test]
fn fuzz_tracks() {
    let texts = [
        "$node_(0) set X_ 1.5\n$node_(0) set Y_ 2\n$ns_ at 1.0 \"$node_(0) setdest 5.0 5.0 1.25\"\n$ns_ at 2 \"$node_(0) setdest 9 1 0\"\n",
        "0.0 1.0 2.0 10.5 3.0 4.0\n0 5 5 1 6 6\n",
        "time,node,x,y,z\n0,ann,1,1,2\n1.5,ann,2,1e3,2\n0,bob,-2,1,3\n",
        GPX,
        KML,
        FCD,
    ];
    let formats = [
        TrackFormat::Setdest,
        TrackFormat::BonnMotion,
        TrackFormat::Csv,
        TrackFormat::Gpx,
        TrackFormat::Kml,
        TrackFormat::Fcd,
    ];
    let formats = select(formats.to_vec());
    let inputs = (formats, mutated(texts.map(str::to_owned).to_vec()));
    fuzz("tracks", 1_000, &inputs, |(format, text)| {
        let Ok(tracks) = read(&text, format, GROUND, 1_000) else { return };
        for track in tracks.values() {
            let path = Path::through(track, None).expect("all that is read is right");
            assert_eq!(path.position(track[0].at), track[0].position);
        }
    });
}
