//! Rules that the judge can break.

/// A rule that the judge breaks on purpose, to see whether the comparison would notice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// At one instant the last port and the last connection go first.
    TiesReversed,
    /// A cell that leaves now still takes a place when another arrives now.
    DeparturesAfterArrivals,
    /// A cell that arrives at the very end of an averaging interval belongs to it.
    IntervalsEndAfterArrivals,
    /// Samples come last.
    SamplesLast,
    /// Policers let all out-of-rate FRMs pass.
    OutOfRateIsFree,
    /// EFCI is decided as a cell arrives.
    EfciOnArrival,
    /// The cell in transmission takes no place in the buffer.
    RoomBesideTransmission,
    /// Outages and losses are decided as the transmission begins.
    LossAtBeginning,
    /// The cell in transmission is not part of the queue that a switch sees.
    QueueBesideTransmission,
    /// UBR goes before ABR.
    UbrBeforeAbr,
    /// On an idle line the first cell that comes at an instant is sent, whatever else comes then.
    FirstComeHasTurn,
    /// Timers of TCP come before arrivals.
    TimersBeforeArrivals,
    /// The PDU after one of which nothing has come is no PDU either.
    LostPduSpoilsNext,
    /// A cell that comes as early as its tolerance allows does not conform.
    EarliestDoesNotConform,
    /// A cut of an ABR source's rate binds the cell that comes next.
    CutsBindAtOnce,
    /// A BRM counts as it comes to the port towards the source, not as it leaves.
    BrmsCountAsTheyCome,
    /// Discarded cells are charged.
    DiscardedCellsCount,
    /// Cells with CLP = 1 have as much room as others.
    TaggedCellsAreAlike,
    /// Each cell of a GFR frame is eligible or not by itself.
    EligibleCellByCell,
    /// Cells of GFR frames that are not eligible are charged.
    IneligibleFramesCount,
    /// The end of a GFR frame is discarded with the rest of it.
    CutFramesLoseTheirEnds,
    /// Differential frame discard gives each connection half of the buffer.
    SharesByNumber,
    /// A cell keeps the rate that its line has when its transmission begins.
    RateOfBeginning,
    /// A line that has stopped works on, if a cell was on it.
    StandingStillIsBusy,
    /// A cell has the rate that its line has when its transmission would end.
    RateOfPresentCell,
    /// Cells overtake those in front of them where the delay of a line falls.
    Overtaking,
    /// A cell that leaves as a line changes has the delay before.
    DelayAfterDeparture,
    /// Cells on a line when it changes are never lost.
    InFlightKept,
    /// Switch algorithms go by the rate that a line began with.
    FirstRate,
    /// A cell goes on a line that has stopped.
    NoStop,
    /// A call that ends as another arrives still has what it booked.
    CallsEndLate,
    /// A call has its first data as it arrives.
    SetUpTakesNoTime,
    /// A call holds its connection from its arrival on, not from its first data.
    HoldingFromArrival,
    /// The source of a call goes on where the call before left it.
    SourceGoesOn,
    /// A call has the free slot with the highest number.
    HighestSlot,
    /// A call books the first direction only.
    OneWayBooked,
    /// On/off sources book what each needs alone.
    OnOffBookedAlone,
    /// The time of a flow begins with its first data.
    TimesFromSetUp,
    /// A flow is complete with its last datagram, whatever is missing before.
    LastDatagramCompletes,
    /// The slot of a flow is free when its last cell has arrived, not when it has left.
    SlotsFreeLate,
    /// Another flow may have a connection while TCP has not heard that all of the one before has come.
    FreeBeforeAcknowledged,
    /// Copies for the branches of a tree have EFCI = 0.
    CopiesLoseEfci,
    /// A branch point answers an FRM before the copies have come to its ports.
    AnswersBeforeCopies,
    /// Only the first port that a tree leaves a branch point by answers BRMs that go up.
    OneBranchAnswers,
    /// BRMs that a branch point sends up are not metered.
    UnmeteredFeedback,
    /// A branch point takes all branches for the first one.
    BranchesTakenForOne,
    /// Packets are marked as they leave, by what they leave behind.
    MarksAsTheyLeave,
    /// The last cell of a PDU decides whether its packet is marked.
    LastCellDecides,
    /// Cells of a path are of its channels by turns.
    ChannelsByTurns,
    /// All channels of a path have the same weight.
    ChannelsOfOneWeight,
    /// A loopback request leaves after what the sources send at its instant.
    LoopbackAfterSource,
    /// A loopback cell is marked, discarded and served as a data cell.
    LoopbackIsData,
    /// A switch passes requests on that it is asked to answer.
    SegmentsGoThrough,
    /// A congested destination says nothing in what it turns around.
    CongestionUntold,
    /// A congested destination originates a BRM as each span begins, however soon.
    SpansReportAsTheyBegin,
    /// A shaper lets no burst go.
    ShapersHaveNoBursts,
    /// A source marks each cell of a frame by itself.
    FramesMarkedCellByCell,
    /// A source marks the first of so many, not the last.
    FirstOfSoManyIsMarked,
    /// RED's mean does not fade while the queue is empty.
    MeanStays,
}

/// Flaws that networks without TCP tell, each with the number of one that does.
pub const FLAWS: [(Flaw, u64); 10] = [
    (Flaw::TiesReversed, 4),
    (Flaw::DeparturesAfterArrivals, 0),
    (Flaw::IntervalsEndAfterArrivals, 6),
    (Flaw::SamplesLast, 0),
    (Flaw::EfciOnArrival, 124),
    (Flaw::RoomBesideTransmission, 0),
    (Flaw::LossAtBeginning, 0),
    (Flaw::QueueBesideTransmission, 6),
    (Flaw::UbrBeforeAbr, 12),
    (Flaw::FirstComeHasTurn, 12),
];

/// Flaws that take TCP to tell.
pub const TCP_FLAWS: [(Flaw, u64); 2] = [(Flaw::TimersBeforeArrivals, 5), (Flaw::LostPduSpoilsNext, 0)];
