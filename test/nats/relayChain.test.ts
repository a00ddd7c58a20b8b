import { beforeAll, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { firstValueFrom, from, takeWhile } from 'rxjs';
import { natsFeed, natsRelay } from '../../src/nats/index.js';
import { processFeed, type Work } from '../../src/process/index.js';
import { describeWithNats } from '../helpers/natsServer.js';
import { errorOf, generateUpdates, idsOf, publishAll, readStream, withNats } from './support.js';

let updates: readonly Work[] = [];
beforeAll(async () => {
  updates = await generateUpdates(60);
});

describeWithNats('a relay of the stream of another relay', () => {
  const nats = withNats();

  it('continues after a process that published and did not save', async () => {
    const { connection, stream } = await nats.target();
    const copy = nats.newName();
    const jsm = await jetstreamManager(connection);
    await jsm.streams.add({ name: stream, subjects: [`${stream}.updates`] });
    await publishAll(connection, stream, updates.slice(0, 20));
    const run = () => {
      const { handler, store } = natsRelay({ connection, stream: copy });
      const how = { name: 'relay', store, batch: { size: 10, withinMs: 0 } };
      return errorOf(
        processFeed(natsFeed({ connection, stream }), handler, how).pipe(takeWhile(({ isCaughtUp }) => !isCaughtUp)),
      );
    };
    expect(await run()).toBeUndefined();
    await publishAll(connection, stream, updates.slice(20, 40));
    const crashed = natsRelay({ connection, stream: copy });
    await firstValueFrom(from(crashed.store.load('relay')));
    await crashed.handler(updates.slice(20, 30), undefined);
    expect(await run()).toBeUndefined();
    expect(idsOf(await readStream(jsm, copy))).toEqual(idsOf(updates.slice(0, 40)));
    // as a stream that has lost its newest messages
    await jsm.streams.delete(copy);
    await jsm.streams.add({ name: copy, subjects: [`${copy}.updates`] });
    await publishAll(connection, copy, updates.slice(0, 15));
    expect(await run()).toBeUndefined();
    expect(idsOf(await readStream(jsm, copy))).toEqual(idsOf(updates.slice(0, 40)));
  });
});
