import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { concatAll, from, lastValueFrom, toArray } from 'rxjs';
import { eventBytes, readEvents, type ServerSentEvent } from '../../src/sse/ServerSentEvent.js';

/** Reads the events of chunks. */
const read = (chunks: readonly Uint8Array[], maxLength = 1e6): Promise<ServerSentEvent[]> =>
  lastValueFrom(
    from(chunks).pipe(
      readEvents(
        maxLength,
        () => new RangeError('too long'),
        () => new RangeError('not UTF-8'),
      ),
      concatAll(),
      toArray(),
    ),
  );

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const readText = (text: string): Promise<ServerSentEvent[]> => read([bytes(text)]);

/** Cuts bytes at some places. */
function cut(all: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (all.length + 1)))].sort((one, other) => one - other);
  return [0, ...ends].map((start, index) => all.slice(start, [...ends, all.length][index]));
}

const line = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll(/[\r\n]/g, ''));

describe('the events of a stream', () => {
  it('are read as the standard says', async () => {
    expect(await readText('data: YHOO\ndata: +2\ndata: 10\n\n')).toEqual([{ event: '', id: '', data: 'YHOO\n+2\n10' }]);
    const text = ': comment\n\ndata: first\nid: 1\n\ndata:second\nid\n\ndata:  third\n\n';
    expect(await readText(text)).toEqual([
      { event: '', id: '1', data: 'first' },
      { event: '', id: '', data: 'second' },
      { event: '', id: '', data: ' third' },
    ]);
    expect(await readText('data\n\ndata\ndata\n\ndata:')).toEqual([
      { event: '', id: '', data: '' },
      { event: '', id: '', data: '\n' },
    ]);
    expect(await readText('\ufeffevent: a\rid: 7\rdata: x\r\revent: b\r\ndata: y\r\n\r\nretry: 5\nid: 8\n\n')).toEqual([
      { event: 'a', id: '7', data: 'x' },
      { event: 'b', id: '7', data: 'y' },
    ]);
    // an ID with NUL is ignored; a name without data is dropped, and one with data counts once
    expect(await readText('id: 1\n\nid: 2\0\nevent: a\n\ndata: x\n\n')).toEqual([{ event: '', id: '1', data: 'x' }]);
  });

  it('are the same, wherever the chunks end', async () => {
    const end = fc.constantFrom('\n', '\r', '\r\n');
    const lines = fc.oneof(
      fc
        .tuple(fc.constantFrom('data: ', 'data:', 'id: ', 'event: ', ':', 'retry: ', 'other: '), line)
        .map((two) => two.join('')),
      fc.constantFrom('', '', 'data', 'id'),
    );
    const texts = fc
      .array(
        fc.tuple(lines, end).map((two) => two.join('')),
        { maxLength: 20 },
      )
      .map((all) => all.join(''));
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat(400), { maxLength: 30 }), async (text, places) => {
        expect(await read(cut(bytes(text), places))).toEqual(await readText(text));
      }),
    );
  });

  it('do not end between the two characters of a line end', async () => {
    const chunks = ['data: a\r', '\ndata: b\r', '', '\n\r', '\n', 'data: c\r', '\r'];
    expect(await read(chunks.map(bytes))).toEqual([
      { event: '', id: '', data: 'a\nb' },
      { event: '', id: '', data: 'c' },
    ]);
  });

  it('are read as they were written, also with several lines', async () => {
    const texts = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ event: fc.constant('changed'), id: fc.constant('1-2'), data: texts })),
        async (events) => {
          expect(await read(events.map(eventBytes))).toEqual(events);
        },
      ),
    );
    // line ends of other kinds cannot begin another field
    const [read1] = await read([eventBytes({ event: 'a', id: '1', data: 'x\revent: b\r\nid: 2\n\ndata: y' })]);
    expect(read1).toEqual({ event: 'a', id: '1', data: 'x\nevent: b\nid: 2\n\ndata: y' });
  });

  it('have a maximum length, also without an end of line', async () => {
    const chunk = bytes('data: 567890');
    await expect(read([chunk, chunk], 20)).rejects.toThrow('too long');
    await expect(read([bytes('id: 1\nid: 2\nid: 3\nid: 4\nid: 5\n')], 20)).rejects.toThrow('too long');
    expect(await read([bytes('data: 1\n\n'.repeat(100))], 20)).toHaveLength(100);
  });

  it('must be UTF-8', async () => {
    await expect(read([new Uint8Array([0x64, 0xff])])).rejects.toThrow('not UTF-8');
  });
});
