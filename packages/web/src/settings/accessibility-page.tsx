import { aim, criteria, limits, report } from './accessibility-table.ts'
import { PageFrame } from './page-frame.tsx'

/** What the client promises to those who use it without a mouse, without sight, or with less of something; and what not. */
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
        <caption>The success criteria of WCAG 2.2 that shape the client, and what a test shows for each</caption>
        <thead>
          <tr>
            <th scope="col">Criterion</th>
            <th scope="col">How it is met, and what is tested</th>
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
