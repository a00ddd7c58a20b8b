/** A gRPC status. */
export interface WireStatus {
  /** 0 is fine. */
  readonly code: number;
  /** What went wrong. */
  readonly message: string;
  /** Always empty here. */
  readonly details: readonly unknown[];
}
