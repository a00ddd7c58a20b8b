import process from 'node:process';
import { expect, it } from '@jest/globals';
import { readConfigureGlobal } from 'fast-check';

const { CANTON_RX_SEED: seed } = process.env;

it('gives random cases the seed of CI', () => {
  expect(readConfigureGlobal().seed).toBe(seed === undefined ? undefined : Number(seed));
});
