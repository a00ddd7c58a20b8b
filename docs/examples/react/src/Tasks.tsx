import { useContracts } from 'canton-rx/react';
import { useState } from 'react';
import { sentenceOf } from './sentence';
import { Task } from './Task';

export function Tasks() {
  const [filter, setFilter] = useState('');
  const { status, contracts, error, connection, reload } = useContracts(
    { types: { task: Task } },
    {
      select: ({ payload }) => payload?.title.toLowerCase().includes(filter.toLowerCase()) ?? true,
      compare: (a, b) => b.offset - a.offset, // last created or moved first
    },
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
          {connection.cause.summary} {status === 'stale' && 'The table may be out of date.'}
        </p>
      )}
      <label>
        Filter <input value={filter} onChange={(event) => setFilter(event.target.value)} />
      </label>
      {status === 'loading' ? (
        <p>Loading</p>
      ) : (
        <table className={status}>
          <caption>{contracts.length} tasks</caption>
          <thead>
            <tr>
              <th>Title</th>
              <th>Due</th>
              <th>Owner</th>
            </tr>
          </thead>
          <tbody>
            {contracts.map((task) =>
              task._tag === 'Contract' ? (
                <tr key={task.contractId}>
                  <td>{task.payload.title}</td>
                  <td>{task.payload.due}</td>
                  <td>{task.payload.owner.split('::')[0]}</td>
                </tr>
              ) : (
                <tr key={task.contractId}>
                  <td colSpan={3}>Does not decode: {task.problems[0]?.path}</td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      )}
    </>
  );
}
