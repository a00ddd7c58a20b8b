import { describe, expect, it } from '@jest/globals';
import { map } from 'rxjs';
import { type CommandsRequest, createLedger } from '../../src/index.js';
import { observe, type Observed } from '../helpers/observe.js';
import { type Reply, scriptedService, type ServiceRequest } from '../helpers/scripted.js';
import { byOffsetPath, completionPath, endPath, executePath, participantPath } from '../helpers/submissionPlan.js';
import { marbles } from '../helpers/time.js';
import { type CommandKind, contractId, VirtualCommands } from '../helpers/virtualCommands.js';
import { errorBody, errorReply, notFound, ok, transaction } from '../helpers/wire.js';
import { signedRequest } from './support.js';

const of = (kind: CommandKind): CommandsRequest => ({
  actAs: ['alice::1220'],
  userId: 'me',
  commandId: 'order-1',
  commands:
    kind === 'create'
      ? [{ CreateCommand: { templateId: '#p:M:T', createArguments: {} } }]
      : [{ ExerciseCommand: { templateId: '#p:M:T', contractId, choice: 'Act', choiceArgument: {} } }],
});

const withoutContext = (reply: Reply): Reply =>
  reply instanceof Error || reply.status !== 409
    ? reply
    : { ...reply, text: JSON.stringify({ ...(JSON.parse(reply.text) as object), context: {} }) };

const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const hash = Buffer.alloc(32, 7);
const transactionHash = hash.toString('base64');
const ours = JSON.parse(
  JSON.stringify(transaction(12)).replace(
    '"externalTransactionHash":null',
    `"externalTransactionHash":"${hash.toString('hex')}"`,
  ),
) as object;

/** Executes signed bytes whose first attempt is lost and whose second one is a duplicate, of which nothing is said. */
const execute = (
  answer: (request: ServiceRequest) => Reply,
  options: { readonly transactionHash?: string } = { transactionHash },
): Observed<unknown> =>
  marbles(({ flush }) => {
    let executions = 0;
    const service = scriptedService((request) => {
      if (request.path === participantPath) return [ok({ participantId: 'p::1220' })];
      if (request.path === byOffsetPath) return [ok(ours)];
      if (request.path !== executePath) return [answer(request)];
      executions += 1;
      return [executions === 1 ? reset : errorReply(409, errorBody('DUPLICATE_COMMAND', 10))];
    });
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: service.port });
    const seen = observe(ledger.executeAndWaitForTransaction(signedRequest, options));
    flush();
    return seen;
  });

describe('a duplicate whose refusal does not show the offset of the commit', () => {
  it.each<CommandKind>(['create', 'consume', 'nonConsuming'])('is found in the updates: %s', (kind) => {
    marbles(({ flush }) => {
      const node = new VirtualCommands({
        kind,
        latencyMs: 10,
        hasCheckpoints: true,
        completions: 'completions',
        faults: [{ kind: 'lostResponse', how: 'reset', afterMs: 20 }],
      });
      const { port } = scriptedService((request) => node.reply(request).pipe(map(withoutContext)));
      const seen = observe(
        createLedger({ baseUrl: 'http://ledger.example', port }).submitAndWaitForTransaction(of(kind)),
      );
      flush();
      expect(seen).toMatchObject({ error: undefined, values: [{ commandId: 'order-1', isRepeated: true }] });
      expect(node.commits).toHaveLength(1);
    });
  });

  it('is found in the updates if it is signed, also by a participant whose ledger end lags', () => {
    let ends = 0;
    const seen = execute(({ path }) => {
      if (path === endPath) return ok({ offset: (ends += 1) < 3 ? 10 : 12 });
      return path.startsWith('/v2/updates') ? ok([transaction(11), ours]) : notFound;
    });
    expect(seen).toMatchObject({ error: undefined, values: [{ offset: 12, isRepeated: true }] });
  });

  it('is found by its hash if it is signed and the participant serves that', () => {
    const acceptedCompletion = { offset: 12, updateId: '122012', status: { code: 0, message: '', details: [] } };
    const seen = execute(({ path }) => {
      if (path === endPath) return ok({ offset: 10 });
      return path === completionPath ? ok({ acceptedCompletion, rejectedCompletions: [] }) : notFound;
    });
    expect(seen).toMatchObject({ error: undefined, values: [{ offset: 12, isRepeated: true }] });
  });

  it.each([{ transactionHash }, {}])('is unknown within seconds if nothing shows the commit: %j', (options) => {
    const seen = execute(({ path }) => {
      if (path === endPath) return ok({ offset: 12 });
      return path.startsWith('/v2/updates') ? ok([transaction(11), transaction(12)]) : notFound;
    }, options);
    expect(seen.error).toMatchObject({ _tag: 'OutcomeUnknownError', lastError: { code: 'DUPLICATE_COMMAND' } });
    expect(seen.endedAt).toBeLessThan(10_000);
  });
});
