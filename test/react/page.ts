import { createElement as h, type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { shareContracts } from '../../src/contracts/shareContracts.js';
import { LedgerProvider, useContracts } from '../../src/react/index.js';
import { archive, create, Marble } from '../contracts/joinSupport.js';
import { contractsWorld } from '../helpers/virtualContracts.js';
import { notFound } from '../helpers/wire.js';

/** What a page shows, and what is left when it is gone. */
export interface ShownContracts {
  /** The first and the last text after each step. */
  readonly steps: readonly (readonly (string | undefined)[])[];
  readonly open: number;
  readonly openAfterClear: number;
}

const [alice, bob] = ['alice::1220ab', 'bob::1220ab'];

const Marbles = ({ party }: { readonly party: string | undefined }): ReactNode => {
  const { status, contracts } = useContracts(
    party === undefined ? null : { types: { marble: Marble }, parties: [party] },
    {
      compare: (a, b) => a.contractId.localeCompare(b.contractId),
    },
  );
  return [status, ...contracts.map(({ contractId, payload }) => `${contractId}=${payload?.color}`)].join(' ');
};

async function show(): Promise<ShownContracts> {
  const { participant, service, client } = contractsWorld({
    latencyMs: 5,
    // a diagnostic, which is not a request of a view
    fault: ({ path }) => (path === '/v2/state/connected-synchronizers' ? notFound : undefined),
  });
  participant.append(create(1, 'x'), create(2, 'w'));
  const contracts = shareContracts(client);
  const element = document.body.appendChild(document.createElement('main'));
  const texts: string[] = [];
  new MutationObserver(() => texts.push(element.textContent)).observe(element, {
    subtree: true,
    childList: true,
    characterData: true,
  });
  const until = async (text: RegExp): Promise<readonly (string | undefined)[]> => {
    while (!text.test(texts.at(-1) ?? '')) await new Promise((resolve) => setTimeout(resolve, 5));
    const [first, last] = [texts[0], texts.at(-1)];
    texts.splice(0);
    return [first, last];
  };
  const root = createRoot(element);
  const render = (child: ReactNode): void => {
    root.render(h(StrictMode, null, h(LedgerProvider, { ledger: client, contracts }, child)));
  };
  const steps: (readonly (string | undefined)[])[] = [];
  render(h(Marbles, { party: undefined }));
  steps.push(await until(/^idle$/));
  render(h(Marbles, { party: alice }));
  steps.push(await until(/^live w=.* x=/));
  participant.append(archive(3, 'w'), create(4, 'a'));
  await until(/^live a=.* x=/);
  render(h(Marbles, { party: bob }));
  steps.push(await until(/^live a=.* x=/));
  render(h('p', null, 'another page'));
  await until(/another page/);
  render(h(Marbles, { party: alice }));
  steps.push(await until(/^live/));
  const { open } = service;
  root.unmount();
  contracts.clear();
  return { steps, open, openAfterClear: service.open };
}

void show().then((seen) => Object.assign(globalThis, { seen }));
