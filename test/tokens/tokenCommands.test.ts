import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, of } from 'rxjs';
import { tokenCommands } from '../../src/tokens/index.js';

const transfer = {
  sender: 'alice::1220ab',
  receiver: 'bob::1220ab',
  amount: '1.0',
  instrumentId: { admin: 'bank::1220ab', id: 'Gold' },
  inputHoldingCids: ['00aa'],
};
const blob = { templateId: '#p:M:T', contractId: '00bb', createdEventBlob: 'AAAA', synchronizerId: 'global::1220ab' };
const choiceContext = {
  choiceContextData: { values: { key: { tag: 'AV_Text', value: 'x' } } },
  disclosedContracts: [{ ...blob, debugPackageName: 'p', debugPayload: {} }],
};

describe('tokenCommands', () => {
  it('sends the arguments of the choice to the registry, and passes its context and its contracts on', async () => {
    const posted: unknown[] = [];
    const tokens = tokenCommands((path, body) => {
      posted.push([path, body]);
      return of({ factoryId: '00cc', transferKind: 'offer', choiceContext });
    });
    const made$ = tokens.transfer(transfer, { meta: { values: { reason: 'rent' } } });
    expect(posted).toEqual([]);
    const { commands, disclosedContracts } = await firstValueFrom(made$);
    const meta = { values: { reason: 'rent' } };
    const choiceArguments = {
      expectedAdmin: 'bank::1220ab',
      transfer: {
        ...transfer,
        requestedAt: expect.any(String),
        executeBefore: expect.any(String),
        meta: { values: {} },
      },
      extraArgs: { context: { values: {} }, meta },
    };
    const path = '/registry/transfer-instruction/v1/transfer-factory';
    expect(posted).toEqual([[path, { choiceArguments, excludeDebugFields: true }]]);
    expect(commands).toMatchObject([
      {
        ExerciseCommand: {
          contractId: '00cc',
          choice: 'TransferFactory_Transfer',
          choiceArgument: { ...choiceArguments, extraArgs: { context: choiceContext.choiceContextData, meta } },
        },
      },
    ]);
    // a participant refuses fields that it does not know
    expect(disclosedContracts).toEqual([blob]);
    await firstValueFrom(made$);
    expect(posted).toHaveLength(2);
  });

  it('has defaults for what is absent, also where it is undefined', async () => {
    const posted: unknown[] = [];
    const tokens = tokenCommands((_, body) => {
      posted.push(body);
      return of({ factoryId: '00cc', choiceContext });
    });
    const absent = { requestedAt: undefined, executeBefore: undefined, meta: undefined };
    const { commands } = await firstValueFrom(tokens.transfer({ ...transfer, ...absent }, { meta: undefined }));
    const own = { requestedAt: expect.any(String), executeBefore: expect.any(String), meta: { values: {} } };
    const argument = { transfer: { ...transfer, ...own }, extraArgs: { meta: { values: {} } } };
    expect(posted).toMatchObject([{ choiceArguments: argument }]);
    expect(commands).toMatchObject([{ ExerciseCommand: { choiceArgument: argument } }]);
  });

  it('fails for an answer of another form, and with the error of the function', async () => {
    const answers = [{}, null, 'html', { factoryId: 1, choiceContext }, { factoryId: '00', choiceContext: {} }];
    for (const answer of answers)
      await expect(firstValueFrom(tokenCommands(() => of(answer)).transfer(transfer))).rejects.toThrow(TypeError);
    const incomplete$ = tokenCommands(() => of({ choiceContext })).transfer(transfer);
    await expect(firstValueFrom(incomplete$)).rejects.toThrow(
      'transfer-instruction/v1/transfer-factory is not that of the token standard: factoryId: expected string',
    );
    const down = tokenCommands(() => Promise.reject(new Error('down')));
    await expect(firstValueFrom(down.respond('00aa', 'accept'))).rejects.toThrow('down');
  });

  it('cannot be led to another path by a contract id', async () => {
    const paths: string[] = [];
    const tokens = tokenCommands((path) => {
      paths.push(path);
      return of(choiceContext);
    });
    await firstValueFrom(tokens.settle('../x?', 'execute-transfer'));
    expect(paths).toEqual(['/registry/allocations/v1/..%2Fx%3F/choice-contexts/execute-transfer']);
  });
});
