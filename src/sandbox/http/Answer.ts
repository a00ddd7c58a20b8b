/** What goes back to the client. */
export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}
