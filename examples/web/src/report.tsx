import { useMutation } from '@tanstack/react-query';
import type { Client, NewReport } from '@freshet/client';

const reasons: NewReport['reason'][] = ['spam', 'harassment', 'hate', 'violence', 'sexual', 'illegal', 'misinformation', 'other'];

/** Reports a post or an item to the moderators. A reader reports a thing once; repeating it changes nothing. */
export function Report({ client, kind, id }: { client: Client; kind: 'post' | 'item'; id: string }) {
  const report = useMutation({ mutationFn: (reason: NewReport['reason']) => client.report(kind, id, { reason }) });
  if (report.isSuccess) return <small className="reported">Reported. Moderators will look at it.</small>;
  return (
    <details className="report">
      <summary>Report</summary>
      {reasons.map((reason) => <button key={reason} data-reason={reason} disabled={report.isPending} onClick={() => report.mutate(reason)}>{reason}</button>)}
      <p role="alert">{report.error?.message}</p>
    </details>
  );
}
