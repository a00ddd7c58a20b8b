import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { NEVER } from 'rxjs';
import { liveContracts } from '../../../src/contracts/index.js';
import { contractType, createLedger } from '../../../src/index.js';
import {
  compareDecimals,
  groupTotals,
  Holding,
  type HoldingView,
  sumDecimals,
  toTotals,
} from '../../../src/tokens/index.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

const ledger = createLedger({ baseUrl: 'http://ledger.example', port: () => NEVER });
const holdings = liveContracts(ledger, { types: { holding: Holding }, parties: ['alice::1220ab'] });
const Coin = contractType('#coins:Main:Coin', t.type({ issuer: t.string, grams: t.string }));
const coins = liveContracts(ledger, { types: { coin: Coin }, parties: ['alice::1220ab'] });
const views: readonly HoldingView[] = [];

const compiles = (make: () => unknown): void => {
  expect(make).not.toThrow();
};

describe('amounts of instruments', () => {
  it('are not added without their instruments', () => {
    compiles(() => groupTotals(views).map(({ amount }) => amount));
    // @ts-expect-error -- these amounts may be of different instruments
    compiles(() => sumDecimals(views.map(({ amount }) => amount)));
    // @ts-expect-error -- and so may totals
    compiles(() => sumDecimals(groupTotals(views).map(({ amount }) => amount)));
    // @ts-expect-error -- an amount without an instrument
    compiles(() => groupTotals([{ amount: '1.0' }].slice(1)));
  });

  it('are text, never numbers', () => {
    compiles(() => sumDecimals(['1.0', '2.0']));
    compiles(() => views.map(({ amount }) => compareDecimals(amount, '1.0')));
    // @ts-expect-error -- a number
    compiles(() => sumDecimals([1].slice(1)));
  });

  it('are those of the contracts of a view', () => {
    compiles(() => holdings.all$().pipe(toTotals()));
    compiles(() => holdings.select$(({ payload }) => payload?.lock === null).pipe(toTotals()));
    compiles(() =>
      coins
        .all$()
        .pipe(
          toTotals(({ payload }) => ({ instrumentId: { admin: payload.issuer, id: 'Coin' }, amount: payload.grams })),
        ),
    );
    // @ts-expect-error -- a coin has no instrument
    compiles(() => coins.all$().pipe(toTotals()));
  });
});
