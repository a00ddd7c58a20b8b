import { expect, it } from '@jest/globals';
import { of, throwError } from 'rxjs';
import type { Followed } from '../../../src/contracts/followChanges.js';
import { findBy } from '../../../src/contracts/selection/findBy.js';
import type { Parties } from '../../../src/contracts/selection/Selection.js';
import { here } from '../../../src/contracts/withPosition.js';
import { LedgerResetError } from '../../../src/errors/feed.js';
import { errorOf } from '../../../src/errors/readAnswer.js';
import type { LedgerPosition } from '../../../src/codecs/LedgerPosition.js';
import { observe } from '../../helpers/observe.js';
import { alice, bob } from '../../helpers/PartyWorld.js';
import { errorBody } from '../../helpers/wire.js';

const position: LedgerPosition = {
  ...{ offset: 7, participantId: 'participant::1220ab', recordTimes: {} },
  lastUpdate: { offset: 7, updateId: '12207' },
};

/** Only a position without updates is found: the right to read is missing. */
const followedBy = (): Followed => {
  const error = errorOf({ path: '/v2/updates', status: 403, text: JSON.stringify(errorBody('PERMISSION_DENIED', 7)) });
  const find: Followed['find'] = ({ lastUpdate }) => (lastUpdate === undefined ? of(here) : throwError(() => error));
  return { find } as Followed;
};

const found = (before: Parties, now: Parties) => observe(findBy(followedBy, { before, now }, position));

it('accepts the ID of the participant as a proof if a party is gone that may no longer be read', () => {
  expect(found([alice], [bob]).values).toEqual([here]);
  expect(found([alice], []).values).toEqual([here]);
});

it('does not accept it for the same parties, of which something is left to be mixed with another ledger', () => {
  expect(found([alice], [alice]).error).toMatchObject({ _tag: 'ApiError', status: 403 });
  expect(found('any', 'any').error).toMatchObject({ _tag: 'ApiError' });
});

it('fails if the participant that answers then is another one', () => {
  const other = new LedgerResetError(position.offset, undefined, 'the participant is another one');
  const found$ = findBy(
    (parties) =>
      parties.includes(bob) ? ({ find: () => throwError(() => other) } as unknown as Followed) : followedBy(),
    { before: [alice], now: [bob] },
    position,
  );
  expect(observe(found$).error).toBe(other);
});
