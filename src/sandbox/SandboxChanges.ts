/**
 * The settings that you can change on a running {@link Sandbox}.
 *
 * @category Sandbox
 */
export interface SandboxChanges {
  /**
   * The Canton release line whose behavior the sandbox imitates.
   *
   * @defaultValue '3.5'
   */
  readonly profile?: SandboxProfile;
  /**
   * The maximum number of elements in a list. A longer list gets a 413.
   *
   * @defaultValue 200
   */
  readonly maxListElements?: number;
  /**
   * The idle time after which an open-ended list ends if the request has no `stream_idle_timeout_ms`, in milliseconds.
   *
   * @defaultValue 500
   */
  readonly listWaitTimeMs?: number;
  /**
   * The time after which a request without a response gets a plain-text 503, in milliseconds. From profile 3.6 on, the
   * header `Request-Timeout` of a request replaces it, and the response is a 408 without a body.
   *
   * @defaultValue 20000
   */
  readonly requestTimeoutMs?: number;
  /**
   * The maximum time between the preparation and the commit of a transaction, in milliseconds. After that, it is
   * rejected with `LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND`.
   *
   * @defaultValue 86400000, a day
   */
  readonly preparationTimeToleranceMs?: number;
  /**
   * How far the `minLedgerTime` of a signed transaction may be ahead of the clock, in milliseconds. Beyond that, it is
   * rejected with `LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND`. Commands of hosted parties wait for their minimum ledger
   * time instead.
   *
   * @defaultValue 60000
   */
  readonly ledgerTimeToleranceMs?: number;
  /**
   * The deduplication period of commands without one, and of signed transactions with the period `Empty`, in milliseconds.
   * When the sandbox is pruned, it forgets older commits. A request may have a longer period.
   *
   * @defaultValue 30000, as on Canton Network
   */
  readonly defaultDeduplicationMs?: number;
  /**
   * How long after the archive of a contract commands that use it are rejected with `UNKNOWN_CONTRACT_SYNCHRONIZERS`
   * instead of `CONTRACT_NOT_FOUND`, in milliseconds. A participant does so until it has indexed the archive.
   *
   * @defaultValue 0
   */
  readonly archiveLagMs?: number;
  /**
   * The time from the registration of a submission that archives contracts to its commit, in milliseconds. Meanwhile,
   * these contracts are locked: other submissions that use them are rejected with `LOCAL_VERDICT_LOCKED_CONTRACTS`. With
   * 0, no two submissions are at work at the same time.
   *
   * @defaultValue 5
   */
  readonly confirmationMs?: number;
  /**
   * The share of hosted submissions for whose contract another transaction is faster, from 0 to 1. It archives the contract,
   * replaces it, or locks it for the moment. The submission is then rejected with `CONTRACT_NOT_FOUND` or
   * `LOCAL_VERDICT_LOCKED_CONTRACTS`.
   *
   * @defaultValue 0
   */
  readonly contention?: number;
  /**
   * Whether the sandbox reassigns contracts, if the contracts of a submission are on different synchronizers, or not on
   * the requested one. Each half of such a reassignment has a completion with the command id of the submission. With
   * `false`, the commands are rejected.
   *
   * @defaultValue false
   */
  readonly automaticReassignments?: boolean;
  /**
   * The time from the start of an open-ended stream to its first checkpoint, in milliseconds; `false` for no such
   * checkpoint.
   *
   * @defaultValue false before 3.5, 500 since
   */
  readonly earlyCheckpointMs?: number | false;
  /**
   * The idle time after which an open-ended stream gets a checkpoint, unless it already has the same one, in
   * milliseconds; `false` for no such checkpoints. The default exceeds `requestTimeoutMs`, so lists get checkpoints
   * only with a lower value.
   *
   * @defaultValue 60000
   */
  readonly idleCheckpointMs?: number | false;
  /**
   * The time without a byte in either direction after which the sandbox disconnects a WebSocket without a close frame,
   * in milliseconds. The client's pings keep it open. A change applies to WebSockets that are opened later.
   *
   * @defaultValue 60000
   */
  readonly webSocketIdleMs?: number;
  /**
   * How the sandbox refuses a WebSocket that fails `checkToken`: `'message'` sends an error as the first message, as
   * participants do for a missing or expired token; `'handshake'` responds to the upgrade with a 401, as 3.4 and later
   * do for an unknown user.
   *
   * @defaultValue 'message'
   */
  readonly webSocketRefusal?: 'message' | 'handshake';
  /**
   * Decides whether the token of a request is valid. If it is not, the response is a 401. The token is the bearer
   * token, or the token in the first subprotocol of a WebSocket. On a WebSocket, it is checked again before each
   * element.
   *
   * @defaultValue no check
   */
  readonly checkToken?: (token: string | undefined) => boolean;
  /**
   * Whether to accept bodies without the content type of JSON from web pages, too, as participants do. By default, the
   * response is a 415, because a page can send other types to any address without a preflight. Programs, which send no `Origin`,
   * may use any type.
   *
   * @defaultValue false
   */
  readonly anyContentType?: boolean;
  /**
   * Whether to serve only `POST /v2/updates/flats` and `…/executeAndWaitForTransaction`, and to respond with 404 to all
   * other requests.
   *
   * @defaultValue false
   */
  readonly interfaceOnly?: boolean;
  /**
   * Whether profile 3.6 serves what that release disables by default: `/v2/updates/flats`, `filter` and `verbose`.
   * Profile 3.7 never serves them.
   *
   * @defaultValue false
   */
  readonly deprecatedApis?: boolean;
  /**
   * Whether to serve `POST /v2/state/active-contracts-page`. With `false`, the response is a 405, as in releases of 3.5
   * before 3.5.10. Profiles before 3.5 never serve it.
   *
   * @defaultValue true
   */
  readonly activeContractsPages?: boolean;
  /**
   * Whether snapshots mispair the halves of contracts in flight, as 3.5.10 does. The created events, in the order of their
   * activation, are put next to the unassigned events, in the order of unassignment, so that the two halves of an entry may
   * be of different contracts. A list or a stream pairs all that follow its token, and a page one entry more than it has:
   * then a created event may be in no page, and another one in two.
   *
   * @defaultValue false, because no other release is known to do so
   */
  readonly mispairsInFlight?: boolean;
  /**
   * The id of the participant. Clients use it to recognize a stored cursor of another participant. Set it if a client is
   * to continue with a sandbox that is started again.
   *
   * @defaultValue `participant1::1220…` with a random fingerprint, because each sandbox is a new participant
   */
  readonly participantId?: string;
}

/**
 * The Canton release line whose behavior the sandbox imitates.
 *
 * @category Sandbox
 */
export type SandboxProfile = '3.3' | '3.4' | '3.5' | '3.6' | '3.7';
