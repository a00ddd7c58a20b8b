import * as t from 'io-ts';
import { contractType, interfaceType, optional } from '../../../src/index.js';
import { createSandbox, interfaceInstance, type Sandbox, template } from '../../../src/sandbox/index.js';

/** What can be handed on, whatever it is. */
export const Transferable = interfaceType(
  '#market-api:Api:Transferable',
  t.type({ holder: t.string, what: t.string }),
  {
    choices: { Hand: { argument: t.type({ to: t.string }), result: t.string } },
  },
);

/** The template of the recordings: an issuer signs, and the owner decides. */
export const Asset = contractType(
  '#assets:Assets:Asset',
  t.intersection([
    t.type({ issuer: t.string, owner: t.string, amount: t.string, serial: t.string }),
    t.partial({ note: optional(t.string) }),
  ]),
  {
    choices: {
      Transfer: { argument: t.type({ newOwner: t.string }), result: t.string },
      Touch: { argument: t.type({ times: t.string }), result: t.string },
      Fail: { argument: t.type({ reason: t.string }), result: t.type({}) },
    },
  },
);

export const asset = template(Asset, {
  signatories: ({ payload }) => [payload.issuer],
  observers: ({ payload }) => [payload.owner],
  ensure: ({ payload }) => Number(payload.amount) > 0,
  key: ({ payload }) => ({ issuer: payload.issuer, serial: payload.serial }),
  interfaces: [
    interfaceInstance(Transferable, {
      view: ({ payload }) => ({ holder: payload.owner, what: `asset ${payload.serial}` }),
      choices: {
        Hand: {
          controllers: ({ payload }) => [payload.owner],
          exercise: ({ payload }, { to }, ledger) => ledger.create(Asset, { ...payload, owner: to }),
        },
      },
    }),
  ],
  choices: {
    Transfer: {
      controllers: ({ payload }) => [payload.owner],
      exercise: ({ payload }, { newOwner }, ledger) => ledger.create(Asset, { ...payload, owner: newOwner }),
    },
    Touch: {
      consuming: false,
      controllers: ({ payload }) => [payload.owner],
      exercise: ({ payload }, { times }) => String(BigInt(payload.serial) + BigInt(times)),
    },
    Fail: {
      consuming: false,
      controllers: ({ payload }) => [payload.owner],
      exercise: (_contract, { reason }) => {
        throw new Error(reason);
      },
    },
  },
});

/** An asset for sale: the buyer gets it with the authority of the seller. */
export const Offer = contractType(
  '#market:Main:Offer',
  t.type({ seller: t.string, buyer: t.string, assetId: t.string }),
  {
    choices: {
      Accept: { argument: t.type({}), result: t.type({ bought: t.string, at: t.string }) },
      Inspect: { argument: t.type({}), result: t.string },
    },
  },
);

export const offer = template(Offer, {
  signatories: ({ payload }) => [payload.seller],
  observers: ({ payload }) => [payload.buyer],
  choices: {
    Accept: {
      controllers: ({ payload }) => [payload.buyer],
      exercise: ({ payload }, _argument, ledger) => ({
        bought: ledger.exercise(Asset, payload.assetId, 'Transfer', { newOwner: payload.buyer }),
        at: ledger.time,
      }),
    },
    Inspect: {
      consuming: false,
      controllers: ({ payload }) => [payload.buyer],
      exercise: ({ payload }, _argument, ledger) => ledger.fetch(Asset, payload.assetId).payload.amount,
    },
  },
});

export const templates = [asset, offer];

/** A sandbox whose answers come at once, with the parties of the market. */
export function market(options: Parameters<typeof createSandbox>[0] = {}) {
  const sandbox = createSandbox({ templates, confirmationMs: 0, ...options });
  const [issuer, alice, bob] = ['issuer', 'alice', 'bob'].map((hint) => sandbox.hostedParty(hint)) as [
    string,
    string,
    string,
  ];
  return { sandbox, issuer, alice, bob };
}

/** An answer to a request. */
export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

/** Sends a request to a sandbox that answers at once. */
export function ask(sandbox: Sandbox, path: string, body: unknown): Answer {
  let answer: Answer | undefined;
  sandbox
    .port({ method: 'POST', url: sandbox.url + path, headers: {}, body: JSON.stringify(body) })
    .subscribe(({ status, text }) => (answer = { status, json: JSON.parse(text) }));
  if (answer === undefined) throw new Error('no answer yet');
  return answer;
}
