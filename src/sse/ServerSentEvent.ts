import { defer, map, type OperatorFunction } from 'rxjs';

/** An event of a stream of server-sent events, as the HTML standard defines them. */
export interface ServerSentEvent {
  /** The name of the event. */
  readonly event: string;
  /** The ID of the event, or of the last one before it that had an ID. Empty if none had. */
  readonly id: string;
  /** The text of the event. */
  readonly data: string;
}

const encoder = new TextEncoder();

/** Returns the bytes of an event. Data of several lines has a field for each. */
export const eventBytes = ({ event, id, data }: ServerSentEvent): Uint8Array =>
  encoder.encode(
    `event: ${event}\nid: ${id}\n${data
      .split(lineEnd)
      .map((line) => `data: ${line}\n`)
      .join('')}\n`,
  );

/** The bytes of a comment, which keeps a connection open that has no events. */
export const heartbeat: Uint8Array = /* @__PURE__ */ encoder.encode(':\n\n');

/** Returns the bytes that set how long an `EventSource` waits before it connects again. */
export const retryBytes = (ms: number): Uint8Array => encoder.encode(`retry: ${ms}\n\n`);

const lineEnd = /\r\n|\n|\r/;

/**
 * Reads the events of a stream of bytes. Emits those that each chunk completes as one list, which may be empty. An event
 * that the stream does not complete is not emitted.
 *
 * @param maxLength - the maximum number of characters of an event
 * @param tooLong - returns the error for a longer event
 * @param notText - returns the error for bytes that are not UTF-8
 */
export const readEvents = (
  maxLength: number,
  tooLong: () => Error,
  notText: () => Error,
): OperatorFunction<Uint8Array, readonly ServerSentEvent[]> => {
  return (chunks$) =>
    defer(() => {
      const parser = new EventParser(maxLength, tooLong, notText);
      return chunks$.pipe(map((bytes) => parser.push(bytes)));
    });
};

/** Reads events from chunks, which may begin and end within a line, and within a character. */
class EventParser {
  /** The number of characters since the last event. */
  #length = 0;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  /** The parts of the line that is not complete. */
  #line: string[] = [];
  /** Whether the last line ended with a carriage return, so that a line feed after it is a part of the same end. */
  #endsWithReturn = false;
  #event = '';
  #id = '';
  #data: string[] = [];

  constructor(
    private readonly maxLength: number,
    private readonly tooLong: () => Error,
    private readonly notText: () => Error,
  ) {}

  push(bytes: Uint8Array): readonly ServerSentEvent[] {
    const decoded = this.#decode(bytes);
    if (decoded === '') return [];
    const text = this.#endsWithReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    this.#endsWithReturn = decoded.endsWith('\r');
    const events: ServerSentEvent[] = [];
    const lines = text.split(lineEnd);
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      this.#count(line);
      const event = this.#endLine(line);
      if (event !== undefined) events.push(event);
    }
    this.#count(rest);
    this.#line.push(rest);
    return events;
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes, { stream: true });
    } catch {
      throw this.notText();
    }
  }

  #count(part: string): void {
    this.#length += part.length;
    if (this.#length > this.maxLength) throw this.tooLong();
  }

  /** Takes the end of a line. Returns the event that it completes. */
  #endLine(end: string): ServerSentEvent | undefined {
    const line = this.#line.length === 0 ? end : [...this.#line, end].join('');
    this.#line = [];
    if (line === '') return this.#endEvent();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    return undefined;
  }

  #endEvent(): ServerSentEvent | undefined {
    const [event, data] = [this.#event, this.#data];
    this.#length = 0;
    this.#event = '';
    this.#data = [];
    return data.length === 0 ? undefined : { event, id: this.#id, data: data.join('\n') };
  }
}
