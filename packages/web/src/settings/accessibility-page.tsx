import { t } from './accessibility-messages.ts'
import { aim, criteria, limits, report } from './accessibility-table.ts'
import { PageFrame } from './page-frame.tsx'

/** The accessibility statement. */
export function AccessibilityPage() {
  return (
    <PageFrame title={t.accessibility}>
      <p>{aim}</p>
      <h2>{t.knownLimits}</h2>
      <ul>
        {limits.map((limit) => (
          <li key={limit}>{limit}</li>
        ))}
      </ul>
      <h2>{t.reportProblem}</h2>
      {report.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <h2>{t.howMet}</h2>
      <table className="criteria">
        <caption>{t.tableCaption}</caption>
        <thead>
          <tr>
            <th scope="col">{t.criterion}</th>
            <th scope="col">{t.howMetAndTested}</th>
          </tr>
        </thead>
        <tbody>
          {criteria.map(({ id, name, level, met, proof, rule }) => (
            <tr key={id}>
              <th scope="row">
                {id} {name} <small>{t.level({ level })}</small>
              </th>
              <td>
                {met}
                <small>{t.tested({ proof, rule })}</small>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </PageFrame>
  )
}
