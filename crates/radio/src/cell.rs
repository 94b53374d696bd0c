//! A cell of a mobile network: a base station that divides time and frequency between its terminals.
//!
//! Time goes on in *slots* (the TTI of LTE; 1 ms, or half, a quarter or an eighth of it with the numerologies of NR), and the channel consists of resource
//! blocks of 12 subcarriers. At the beginning of each slot the base station decides which blocks carry whose data, separately for the downlink and the
//! uplink:
//! - **Rates** follow from channel quality indicators (CQI): of a terminal as it is described, by a trace, or by the ratio of signal to noise
//!   between positions. The size of a transport block is that of TS 38.214, 5.1.3.2, for the modulation and code rate of the CQI (tables 5.2.2.1-2 and
//!   5.2.2.1-3, which are tables 7.2.3-1 and 7.2.3-2 of TS 36.213).
//! - **Scheduling**: repeats come first. Then the terminal with the greatest ratio of its rate to what it got on average (proportional fair; Tse 2001,
//!   Jalali and others 2000), or the one that has been waiting longest (round robin), gets the blocks that its queue needs, then the next one.
//! - **HARQ** (TS 36.321, 5.3.2): a transport block that is not decoded is repeated after a round trip, up to a number of attempts; what arrived is combined, so
//!   repeats fail less often.
//! - **RLC** delivers packets in order (TS 36.322, TS 38.322): what comes behind a missing block waits for it. In acknowledged mode a block that
//!   HARQ gave up is asked for again after the reordering time, so losses become spikes of delay; in unacknowledged mode it is given up.
//! - **Uplink**: a terminal whose queue was empty asks for a grant at its next opportunity for scheduling requests, and sends a grant's delay later. What comes while
//!   something waits is told along with it.
//! - **DRX** (TS 36.321, 5.7): a terminal without data for a while listens only in a part of each cycle; what is for it waits until then.
//! - **Sites**: a base station may send from several, on one carrier or on several. Each schedules by itself; those on one carrier interfere with what they send.
//! - **Handovers** between sites follow from measured powers (event A3 of TS 36.331 and TS 38.331, 5.5.4.4), or come at given times. They are gaps without any data, in which the old site
//!   hands on what waits (X2, TS 36.300, 10.1.2), or loses it. What was on its way is sent again in acknowledged mode, and lost otherwise (TS 36.323, 5.2.1).
//!
//! Differs from the standards: a terminal has one bearer, and HARQ has as many processes as it needs. A CQI holds for all blocks alike. Control channels and
//! acknowledgements are never lost and take no more than the resource elements that are counted as theirs. A block that RLC sends again keeps its bytes. Packets to
//! everybody are sent once, with CQI 1, by the first site, and reach all. A terminal hears the command to go to another site however weak its own one is: there are no radio link
//! failures, and no random access.
//!
//! Invariants:
//! - What is enqueued at the instant at which a slot begins takes part in it, in whichever order the medium is told: a slot is decided when its beginning has passed.
//! - There are events only in slots in which something is sent or could be.
//! - Every frame waits, is delivered or is dropped, once.

mod bearer;
mod config;
mod load;
mod medium;
mod quality;
mod serving;
mod site;
mod slot;
mod table;

pub use config::{CellConfig, CellSignal, CellStation, Drx, HandoverGaps, RadioLinkControl, Scheduler, SlotUse};
pub use medium::CellMedium;
pub use site::{CellSite, HandoverRule};
pub use table::{CqiTable, transport_block};
