import { useContracts } from 'canton-rx/react';
import { useCallback, useState } from 'react';
import { sentenceOf } from './sentence';
import { type AnyTask, Task } from './Task';
import { TaskTable } from './TaskTable';

const lastFirst = (a: AnyTask, b: AnyTask) => b.offset - a.offset; // last created or moved first

export function Tasks() {
  const [filter, setFilter] = useState('');
  const text = filter.trim().toLowerCase();
  const select = useCallback(({ payload }: AnyTask) => payload?.title.toLowerCase().includes(text) ?? true, [text]);
  const { status, contracts, error, connection, staleSince, reset, reload } = useContracts(
    { types: { task: Task } },
    { select, compare: lastFirst },
  );
  if (status === 'error')
    return (
      <p role="alert">
        {sentenceOf(error)} <button onClick={reload}>Try again</button>
      </p>
    );
  return (
    <>
      {connection?.status === 'retrying' && (
        <p role="alert">
          {connection.cause.summary}{' '}
          {staleSince && `The table may be out of date since ${new Date(staleSince).toLocaleTimeString()}.`}
        </p>
      )}
      {reset && (
        <p role="alert">
          Another ledger has taken the place of the first. These are its tasks.{' '}
          <button onClick={reload}>Dismiss</button>
        </p>
      )}
      <label>
        Filter <input type="search" value={filter} onChange={(event) => setFilter(event.target.value)} />
      </label>
      {status === 'loading' && <p role="status">Loading</p>}
      {status !== 'loading' && <TaskTable status={status} tasks={contracts} isFiltered={text !== ''} />}
    </>
  );
}
