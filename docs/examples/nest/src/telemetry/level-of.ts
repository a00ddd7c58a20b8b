import type { Diagnostic } from 'canton-rx';

/** The log level of a diagnostic. The switch is exhaustive: the compiler reports a tag that a later version adds. */
export function levelOf(event: Diagnostic): 'debug' | 'info' | 'warn' | 'error' {
  switch (event._tag) {
    case 'FeedStarted':
    case 'PollSent':
    case 'PageReceived':
    case 'SnapshotStarted':
    case 'SnapshotPageReceived':
    case 'SubmissionPrepared':
    case 'SubmissionVerified':
    case 'SubmissionSigned':
    case 'SubmissionSent':
    case 'CommitSaved':
    case 'WorkCounted':
      return 'debug';
    case 'CaughtUp':
    case 'SnapshotCompleted':
    case 'PageLimitLearned':
    case 'EndpointSwitched':
    case 'SocketOpened':
    case 'SocketClosed':
    case 'TokenRefreshed':
    case 'SubmissionCommitted':
    case 'ActionCommitted':
    case 'ActionObsolete':
    case 'CommandCommitted':
    case 'CommandDropped':
    case 'RoleChanged':
    case 'WorkCaughtUp':
      return 'info';
    case 'AddressChanged':
    case 'RetryScheduled':
    case 'ResponseDelayed':
    case 'FellBehind':
    case 'SnapshotRestarted':
    case 'ContractUndecoded':
    case 'TypesUnknown':
    case 'ContractsReconciled':
    case 'PartyUnknown':
    case 'HandlerFailed':
    case 'UpdateSkipped':
    case 'UpdateParked':
    case 'NameLost':
    case 'LedgerUnproven':
    case 'PositionMoved':
    case 'SelectionChanged':
    case 'SubmissionUnclear':
    case 'ActionFailed':
    case 'CommandFailed':
    case 'CommandParked':
    case 'HandlerDelayed':
    case 'CommitDelayed':
    case 'WorkAbandoned':
      return 'warn';
    case 'GapFound':
    case 'RowsReplaced':
    case 'ContractsEnded':
    case 'SubmissionFailed':
      return 'error';
    case 'FeedEnded':
      return event.how === 'failed' ? 'error' : 'debug';
  }
}
