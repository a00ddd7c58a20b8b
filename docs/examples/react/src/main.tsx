import { createLedger } from 'canton-rx';
import { LedgerProvider } from 'canton-rx/react';
import { shareRemoteContracts } from 'canton-rx/sse';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { NewTask } from './NewTask';
import { Tasks } from './Tasks';
import './style.css';

// once, outside all components
const ledger = createLedger({ baseUrl: location.origin });
const search = new URLSearchParams(location.search);
const party = search.get('party');
// with ?from=server, the components show what a server sends to this user, in place of what the ledger has
const token = location.hash.slice(1);
const contracts = search.get('from') === 'server' ? shareRemoteContracts('/contracts', { token }) : undefined;

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <LedgerProvider ledger={ledger} parties="any" contracts={contracts}>
      <main>
        <h1>Tasks</h1>
        {party === null ? <p>Add ?party=… to the address to create tasks.</p> : <NewTask party={party} />}
        <Tasks />
      </main>
    </LedgerProvider>
  </StrictMode>,
);
