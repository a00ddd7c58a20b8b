/** A server-sent event. */
export interface Message {
  readonly id: string;
  readonly type: string | undefined;
  readonly data: string | undefined;
}

/** A client of a stream of server-sent events. */
export interface Stream {
  readonly status: number;
  readonly messages: readonly Message[];
  readonly close: () => void;
  /** Resolves when the server has ended it or it was closed. */
  readonly over: Promise<unknown>;
}

/** Connects once, as a browser's EventSource does. It reads nothing until `begin` resolves, so that TCP stops the server. */
export async function openStream(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  begin: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Stream> {
  const controller = new AbortController();
  const { signal } = controller;
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal });
  const messages: Message[] = [];
  await begin();
  return {
    status: response.status,
    messages,
    close: () => {
      controller.abort();
    },
    over: read(response, messages).catch(() => undefined),
  };
}

async function read(response: Response, messages: Message[]): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    messages.push(...blocks.map(parseMessage).filter((message) => message !== undefined));
  }
}

/** A message has an id; a block without one is a comment. */
function parseMessage(block: string): Message | undefined {
  const field = (name: string): string | undefined =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const id = field('id');
  return id === undefined ? undefined : { id, type: field('event'), data: field('data') };
}
