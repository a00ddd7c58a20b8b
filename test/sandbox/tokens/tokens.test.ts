import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, map } from 'rxjs';
import { type Command, create, exercise, type SubmissionRejectedError } from '../../../src/index.js';
import { liveContracts } from '../../../src/contracts/index.js';
import { Token, tokenOf } from '../../../src/sandbox/tokens/Token.js';
import { TokenAllocationRequest } from '../../../src/sandbox/tokens/index.js';
import {
  Allocation,
  AllocationRequest,
  type Amount,
  type InstructionResult,
  type SettlementInfo,
  TransferFactory,
  TransferInstruction,
  type TokenSubmission,
} from '../../../src/tokens/index.js';
import { at } from '../client.js';
import { wallets } from './wallet.js';

/** Those who submit. */
type Parties = readonly [string, ...string[]];
type Wallets = ReturnType<typeof wallets>;

const mint = ({ registry, alice }: Wallets, ...amounts: readonly string[]): Promise<readonly string[]> =>
  firstValueFrom(registry.mint(alice, 'Gold', ...amounts));

/** Rejects with the message of the model. */
const refused = (submitted: Promise<unknown>, message: string): Promise<void> =>
  expect(submitted).rejects.toMatchObject({
    _tag: 'SubmissionRejectedError',
    message: expect.stringContaining(message),
  });

/** Alice offers 4 of her 10 to Bob. Returns the id of the instruction. */
async function offered(here: Wallets): Promise<string> {
  const inputHoldingCids = await mint(here, '10.0');
  const result = await here.submit(here.tokens.transfer(here.transferOf({ inputHoldingCids })), here.alice);
  return String(at(result, 'output', 'value', 'transferInstructionCid'));
}

describe('a transfer', () => {
  it('is offered, with its amount locked and the change returned, and accepted', async () => {
    const here = wallets();
    const { alice, bob, holdings, ledger, submit, tokens, transferOf } = here;
    const id = await offered(here);
    expect(await holdings(alice)).toEqual(['4.0000000000 Gold locked: transfer', '6.0000000000 Gold']);
    const types = { offer: TransferInstruction };
    const [offer] = await firstValueFrom(liveContracts(ledger, { types, parties: [bob] }).all$());
    const { sender, receiver, amount, instrumentId } = transferOf({ amount: '4.0000000000' });
    const transfer = { sender, receiver, amount, instrumentId };
    expect(offer).toMatchObject({
      contractId: id,
      payload: { originalInstructionCid: null, transfer, status: { tag: 'TransferPendingReceiverAcceptance' } },
    });
    const result = await submit(tokens.respond(id, 'accept'), bob);
    expect(result).toMatchObject({
      output: { tag: 'TransferInstructionResult_Completed', value: { receiverHoldingCids: [expect.any(String)] } },
      senderChangeCids: [],
    });
    expect(await holdings(alice)).toEqual(['6.0000000000 Gold']);
    expect(await holdings(bob)).toEqual(['4.0000000000 Gold']);
  });

  it.each([
    ['rejected by its receiver', 'reject', 'bob'],
    ['withdrawn by its sender', 'withdraw', 'alice'],
  ] as const)('is %s, and the sender has the amount again', async (_, choice, actor) => {
    const here = wallets();
    const { alice, bob, holdings, submit, tokens } = here;
    const id = await offered(here);
    const other = actor === 'bob' ? alice : bob;
    await expect(submit(tokens.respond(id, choice), other)).rejects.toMatchObject({ reason: 'authorization' });
    expect(await submit(tokens.respond(id, choice), here[actor])).toMatchObject({
      output: { tag: 'TransferInstructionResult_Failed' },
      senderChangeCids: [expect.any(String)],
    });
    expect(await holdings(alice)).toEqual(['4.0000000000 Gold', '6.0000000000 Gold']);
    expect(await holdings(bob)).toEqual([]);
    await expect(submit(tokens.respond(id, choice), here[actor])).rejects.toMatchObject({ reason: 'inactiveContract' });
  });

  it('is made at once if the receiver has approved it before', async () => {
    const here = wallets();
    const { alice, bob, holdings, registry, submit, tokens, transferOf } = here;
    await firstValueFrom(registry.preapprove(bob));
    const inputHoldingCids = await mint(here, '4.0');
    const result = await submit(tokens.transfer(transferOf({ inputHoldingCids })), alice);
    expect(result).toMatchObject({ output: { tag: 'TransferInstructionResult_Completed' }, senderChangeCids: [] });
    expect([await holdings(alice), await holdings(bob)]).toEqual([[], ['4.0000000000 Gold']]);
  });

  it('to oneself merges and splits holdings', async () => {
    const here = wallets();
    const { alice, holdings, submit, tokens, transferOf } = here;
    const toSelf = async (amount: string, inputHoldingCids: readonly string[]): Promise<readonly string[]> => {
      const transfer = transferOf({ receiver: alice, amount, inputHoldingCids });
      const result = (await submit(tokens.transfer(transfer), alice)) as InstructionResult;
      return at(result, 'output', 'value', 'receiverHoldingCids') as readonly string[];
    };
    const merged = await toSelf('3.75', await mint(here, '1.25', '2.5'));
    expect(await holdings(alice)).toEqual(['3.7500000000 Gold']);
    await toSelf('0.0000000001', merged);
    expect(await holdings(alice)).toEqual(['0.0000000001 Gold', '3.7499999999 Gold']);
  });

  it('is refused if its holdings cannot pay for it', async () => {
    const here = wallets();
    const { admin, alice, bob, registry, submit, tokens, transferOf } = here;
    const [holding = ''] = await mint(here, '10.0');
    const refuses = (
      fields: Parameters<typeof transferOf>[0],
      message: string,
      actAs: Parties = [alice],
    ): Promise<void> =>
      refused(submit(tokens.transfer(transferOf({ inputHoldingCids: [holding], ...fields })), ...actAs), message);
    await refuses({ amount: '10.0000000001' }, 'not enough');
    // a participant refuses what is not a Decimal, so that a share that nobody has rounded is no payment
    for (const amount of ['3.33333333333', '0.00000000001', `${'9'.repeat(29)}.0`])
      await refuses({ amount }, '28 digits');
    await refuses({ amount: '0.0' }, 'positive');
    await refuses({ amount: '-1.0' }, 'positive');
    await refuses({ inputHoldingCids: [] }, 'no input holdings');
    await refuses({ instrumentId: { admin, id: 'Silver' } }, 'another instrument');
    await refuses({ sender: bob, receiver: alice }, 'another owner', [bob, alice]);
    await refuses({ executeBefore: new Date(0).toISOString() }, 'executeBefore');
    await refuses({ requestedAt: '2099-01-01T00:00:00Z' }, 'requestedAt');
    const twice = submit(tokens.transfer(transferOf({ amount: '20.0', inputHoldingCids: [holding, holding] })), alice);
    await expect(twice).rejects.toMatchObject({ _tag: 'SubmissionRejectedError' });
    const [silver = ''] = await firstValueFrom(registry.mint(alice, 'Silver', '10.0'));
    await refuses({ inputHoldingCids: [holding, silver] }, 'another instrument');
    await submit(tokens.transfer(transferOf({ inputHoldingCids: [holding] })), alice);
    const { ledger } = here;
    const { Holding } = await import('../../../src/tokens/index.js');
    const all = await firstValueFrom(liveContracts(ledger, { types: { holding: Holding }, parties: [alice] }).all$());
    const locked = all.find(({ payload }) => payload?.lock)?.contractId ?? '';
    await refuses({ inputHoldingCids: [locked] }, 'locked');
  });

  it('needs the context of the registry, its disclosed contracts, and the factory of the right admin', async () => {
    const here = wallets();
    const { alice, sandbox, submit, tokens, transferOf, registry } = here;
    const inputHoldingCids = await mint(here, '10.0');
    const made$ = tokens.transfer(transferOf({ inputHoldingCids }));
    const changed = (change: (made: TokenSubmission) => TokenSubmission) => submit(made$.pipe(map(change)), alice);
    await expect(changed((made) => ({ ...made, disclosedContracts: [] }))).rejects.toMatchObject({
      reason: 'inactiveContract',
    });
    const withoutContext = (made: TokenSubmission): TokenSubmission => ({
      ...made,
      commands: JSON.parse(JSON.stringify(made.commands).replace(/"sandbox-tokens\/rules"/, '"other"')) as never,
    });
    await refused(changed(withoutContext), 'get it from the registry');
    const thief = sandbox.hostedParty('thief');
    const stolen = transferOf({ inputHoldingCids, instrumentId: { admin: thief, id: 'Gold' } });
    await refused(submit(tokens.transfer(stolen), alice), 'of another admin');
    await expect(firstValueFrom(registry.post('/registry/other', {}))).rejects.toThrow('has no');
    expect(TransferFactory.templateId).toContain('TransferFactory');
  });
});

describe('a holding', () => {
  it('is created by admin and owner together, with an amount', async () => {
    const { admin, alice, gold, ledger } = wallets();
    const creates = (amount: string, ...actAs: Parties): Promise<unknown> =>
      firstValueFrom(
        ledger.submitAndWaitForTransaction({
          userId: 'app',
          actAs,
          commands: [create(Token, tokenOf(alice, gold, amount))],
        }),
      );
    const rejected = (reason: SubmissionRejectedError['reason']) => ({ _tag: 'SubmissionRejectedError', reason });
    await expect(creates('1.0', alice)).rejects.toMatchObject(rejected('authorization'));
    for (const amount of ['0.0', '0.00000000001', `${'9'.repeat(29)}.0`])
      await expect(creates(amount, admin, alice)).rejects.toMatchObject({ _tag: 'SubmissionRejectedError' });
    await creates('1.0', admin, alice);
  });
});

describe('an allocation', () => {
  /** Alice allocates 4 of her 10 for a leg to Bob. Returns the id of the allocation. */
  async function allocatedIn(here: Wallets) {
    const { admin, alice, bob, gold, sandbox, submit, tokens } = here;
    const executor = sandbox.hostedParty('exchange');
    const inputHoldingCids = await mint(here, '10.0');
    const soon = new Date(Date.now() + 60_000).toISOString();
    const requestedAt = new Date(Date.now() - 1_000).toISOString();
    const meta = { values: {} };
    const settlement = {
      executor,
      settlementRef: { id: 'trade-1', cid: null },
      requestedAt,
      allocateBefore: soon,
      settleBefore: soon,
      meta,
    };
    const transferLeg = { sender: alice, receiver: bob, amount: '4.0', instrumentId: gold, meta };
    const allocation = { settlement, transferLegId: 'leg0', transferLeg };
    const result = await submit(tokens.allocate({ allocation, requestedAt, inputHoldingCids }), alice);
    expect(result).toMatchObject({
      output: { tag: 'AllocationInstructionResult_Completed' },
      senderChangeCids: [expect.any(String)],
    });
    return { admin, executor, id: String(at(result, 'output', 'value', 'allocationCid')) };
  }

  it('locks holdings, and is executed by all who control it', async () => {
    const here = wallets();
    const { alice, bob, holdings, ledger, submit, tokens } = here;
    const { executor, id } = await allocatedIn(here);
    expect(await holdings(alice)).toEqual(['4.0000000000 Gold locked: allocation', '6.0000000000 Gold']);
    const types = { allocation: Allocation };
    const [seen] = await firstValueFrom(liveContracts(ledger, { types, parties: [executor] }).all$());
    expect(seen).toMatchObject({ contractId: id, payload: { allocation: { transferLegId: 'leg0' } } });
    await expect(submit(tokens.settle(id, 'execute-transfer'), executor, alice)).rejects.toMatchObject({
      reason: 'authorization',
    });
    const result = await submit(tokens.settle(id, 'execute-transfer'), executor, alice, bob);
    expect(result).toMatchObject({ senderHoldingCids: [], receiverHoldingCids: [expect.any(String)] });
    expect([await holdings(alice), await holdings(bob)]).toEqual([['6.0000000000 Gold'], ['4.0000000000 Gold']]);
  });

  it.each([
    ['cancelled by all', 'cancel'],
    ['withdrawn by the sender', 'withdraw'],
  ] as const)('is %s, and the sender has the amount again', async (_, choice) => {
    const here = wallets();
    const { alice, bob, holdings, submit, tokens } = here;
    const { executor, id } = await allocatedIn(here);
    const actAs: Parties = choice === 'cancel' ? [executor, alice, bob] : [alice];
    expect(await submit(tokens.settle(id, choice), ...actAs)).toMatchObject({
      senderHoldingCids: [expect.any(String)],
    });
    expect(await holdings(alice)).toEqual(['4.0000000000 Gold', '6.0000000000 Gold']);
  });
});

describe('a request for allocations', () => {
  const noContext = { context: { values: {} }, meta: { values: {} } };

  /** An exchange requests 4 of Alice, for Bob. Returns the request as Alice sees it. */
  async function requestedIn(here: Wallets) {
    const { alice, bob, gold, ledger, sandbox } = here;
    const executor = sandbox.hostedParty('exchange');
    const [before, soon] = [-1_000, 60_000].map((ms) => new Date(Date.now() + ms).toISOString()) as [string, string];
    const times = { requestedAt: before, allocateBefore: soon, settleBefore: soon };
    const settlementRef = { id: 'trade-1', cid: null };
    const settlement: SettlementInfo = { executor, settlementRef, ...times, meta: { values: {} } };
    const amount = '4.0000000000' as Amount;
    const leg = { sender: alice, receiver: bob, amount, instrumentId: gold, meta: { values: {} } };
    const command = create(TokenAllocationRequest, { settlement, transferLegs: { leg0: leg } });
    await firstValueFrom(
      ledger.submitAndWaitForTransaction({ userId: 'exchange', actAs: [executor], commands: [command] }),
    );
    const seenBy = (party: string) =>
      firstValueFrom(liveContracts(ledger, { types: { request: AllocationRequest }, parties: [party] }).all$());
    const act = (party: string, act: Command) =>
      firstValueFrom(ledger.submitAndWaitForTransaction({ userId: 'wallet', actAs: [party], commands: [act] }));
    const [request] = await seenBy(alice);
    if (request?.payload === undefined) throw new Error('Alice does not see the request');
    return { executor, contractId: request.contractId, view: request.payload, seenBy, act };
  }

  it('is seen by the senders, who allocate their legs with it', async () => {
    const here = wallets();
    const { alice, bob, holdings, submit, tokens } = here;
    const inputHoldingCids = await mint(here, '10.0');
    const { view, seenBy } = await requestedIn(here);
    expect(await seenBy(bob)).toEqual([]);
    const { settlement } = view;
    const { leg0: transferLeg } = view.transferLegs;
    if (transferLeg === undefined) throw new Error('there is no leg');
    const allocation = { settlement, transferLegId: 'leg0', transferLeg };
    const { requestedAt } = settlement;
    await submit(tokens.allocate({ allocation, requestedAt, inputHoldingCids }), alice);
    expect(await holdings(alice)).toEqual(['4.0000000000 Gold locked: allocation', '6.0000000000 Gold']);
  });

  it('is rejected by a sender, and withdrawn by the executor, and by none else', async () => {
    const here = wallets();
    const { alice, bob } = here;
    const { executor, contractId, seenBy, act } = await requestedIn(here);
    const reject = (actor: string) =>
      exercise(AllocationRequest.AllocationRequest_Reject, contractId, { actor, extraArgs: noContext });
    const withdraw = exercise(AllocationRequest.AllocationRequest_Withdraw, contractId, { extraArgs: noContext });
    await expect(act(alice, withdraw)).rejects.toMatchObject({ reason: 'authorization' });
    await expect(act(bob, reject(bob))).rejects.toMatchObject({ reason: 'inactiveContract' });
    await refused(act(executor, reject(executor)), 'only a sender');
    await act(alice, reject(alice));
    expect(await seenBy(alice)).toEqual([]);

    const second = await requestedIn(here);
    const { contractId: other } = second;
    const extraArgs = noContext;
    await second.act(executor, exercise(AllocationRequest.AllocationRequest_Withdraw, other, { extraArgs }));
    expect(await seenBy(alice)).toEqual([]);
  });
});
