import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBrowser } from '@lockstep/testing/browser'
import { makeLargeBoard } from '@lockstep/testing/large-board'
import { endProcesses, startPostgres, startServiceProcess } from '@lockstep/testing/processes'
import { OUTPUT, openSql } from '@lockstep/testing/template-database'
import { createClient } from '../packages/client/src/index.ts'
import { readArguments } from '../packages/server/src/platform/command-line.ts'
import { screenshotTwoUsers, takeScreenshots } from '../tests/web/screenshots.ts'
import { buildWebIfOld } from './build-web.ts'
import { makeDemoBoard } from './demo-board.ts'

const PASSWORD = 'hush-hush correct horse of the screenshots'
/** Shown in the README. */
const SHOWN = ['board-offline-wide-dark', 'card-comments-wide-light', 'inbox-medium-light', 'board-phone-light']
const PICTURES = fileURLToPath(new URL('../docs/pictures/', import.meta.url))
const FOLDER = fileURLToPath(new URL('pictures/', OUTPUT))

readArguments({
  help: `npm run screenshots

Takes a screenshot of every screen of the web client, and runs axe on it. The screenshots go to .test-output/pictures, those of
the README to docs/pictures. Exits with 1 when axe finds a violation.

  --version   print the version
  --help      show this help`,
})
await buildWebIfOld()
const postgres = await startPostgres()
const sql = openSql(postgres.url)
const browser = await openBrowser()
try {
  const { baseUrl } = await startServiceProcess({ DATABASE_URL: postgres.url, REDIS_URL: '', LOG_LEVEL: 'warn' })
  const board_id = await makeDemoBoard(baseUrl, PASSWORD)
  const [ada, grace] = [createClient({ baseUrl: baseUrl }), createClient({ baseUrl: baseUrl })]
  await ada.login({ username: 'ada@example.com', password: PASSWORD })
  await grace.login({ username: 'grace@example.com', password: PASSWORD })
  const { id: emptyId } = await ada.createBoard({ title: 'Nothing yet' })
  const largeId = await makeLargeBoard(sql, [(await ada.getMe()).id], 1_000)
  /** Another user moves a card during the screenshot, and moves it back for the next one. */
  const moveCardAsGrace = async () => {
    const { columns } = await grace.getBoard({ board_id })
    const [from, to] = [columns[0], columns[1]]
    const card = from?.cards[1]
    if (!card || !to) throw new Error('The demo board has no card to move')
    const back = { card_id: card.id, column_id: from.id, position: 1 }
    await grace.moveCard({ card_id: card.id, column_id: to.id, position: 1 })
    setTimeout(() => void grace.moveCard(back).catch(() => {}), 2_500)
  }
  const credentials = { email: 'ada@example.com', password: PASSWORD }
  const found = await takeScreenshots(
    browser,
    { baseUrl, credentials, board_id, emptyId, largeId, moveCardAsGrace },
    FOLDER,
    console.log,
  )
  await screenshotTwoUsers(browser, baseUrl, board_id, PASSWORD, join(PICTURES, 'web-two-people.png'))
  for (const name of SHOWN) await copyFile(join(FOLDER, `${name}.png`), join(PICTURES, `web-${name}.png`))
  const violations = found.flatMap(({ name, violations: each }) => each.map((one) => `${name}: ${one}`))
  for (const violation of violations) console.error(`✗ ${violation}`)
  console.log(`${found.length} screenshots in ${FOLDER}, ${violations.length} violations found by axe`)
  process.exitCode = violations.length === 0 ? 0 : 1
} finally {
  await browser.close()
  await sql.end()
  await endProcesses()
}
