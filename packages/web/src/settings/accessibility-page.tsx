import { aim, criteria, limits, report } from './accessibility-table.ts'
import { PageFrame } from './page-frame.tsx'

/** The accessibility statement. */
export function AccessibilityPage() {
  return (
    <PageFrame title="Accessibility">
      <p>{aim}</p>
      <h2>Known limits</h2>
      <ul>
        {limits.map((limit) => (
          <li key={limit}>{limit}</li>
        ))}
      </ul>
      <h2>Report a problem</h2>
      {report.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <h2>How it is met</h2>
      <table className="criteria">
        <caption>WCAG 2.2 success criteria, how they are met, and what is tested</caption>
        <thead>
          <tr>
            <th scope="col">Criterion</th>
            <th scope="col">How it is met and tested</th>
          </tr>
        </thead>
        <tbody>
          {criteria.map(({ id, name, level, met, proof, rule }) => (
            <tr key={id}>
              <th scope="row">
                {id} {name} <small>Level {level}</small>
              </th>
              <td>
                {met}
                <small>
                  Tested: {proof} ({rule})
                </small>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </PageFrame>
  )
}
