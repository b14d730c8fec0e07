import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '../../packages/client/src/index.ts'
import { openBrowser } from '../../packages/server/testing/browser.ts'
import { endProcesses, startPostgres, startServiceProcess } from '../../packages/server/testing/processes.ts'
import { OUTPUT } from '../../packages/server/testing/template-database.ts'
import { makeDemoBoard } from '../../scripts/demo-board.ts'
import { pictureTwoPeople, takePictures } from '../web/pictures.ts'
import { makeLargeBoard } from './large-board.ts'
import { openPool } from './realtime-stage.ts'
import type { Progress, Report } from './report.ts'

const PASSWORD = 'hush-hush correct horse of the pictures'
/** Those that the README shows. */
const SHOWN = ['board-offline-wide-dark', 'card-editing-wide-light', 'board-phone-light']
const PICTURES = fileURLToPath(new URL('../../docs/pictures', import.meta.url))

/** Every screen of the web client as people see it, for somebody to look at, and what axe finds on it. */
export async function prove(progress: Progress): Promise<Report> {
  const folder = fileURLToPath(new URL('pictures/', OUTPUT))
  const postgres = await startPostgres()
  const sql = openPool(postgres.url)
  const browser = await openBrowser()
  try {
    const { base_url } = await startServiceProcess({ DATABASE_URL: postgres.url, REDIS_URL: '', LOG_LEVEL: 'warn' })
    const board_id = await makeDemoBoard(base_url, PASSWORD)
    const [ada, grace] = [createClient({ base_url }), createClient({ base_url })]
    await ada.login({ username: 'ada@example.com', password: PASSWORD })
    await grace.login({ username: 'grace@example.com', password: PASSWORD })
    const { id: empty_id } = await ada.createBoard({ title: 'Nothing yet' })
    const large_id = await makeLargeBoard(sql, [(await ada.getMe()).id], 1_000)
    const stir = async () => {
      const { columns } = await grace.getBoard({ board_id })
      const [from, to] = [columns[0], columns[1]]
      const card = from?.cards[1]
      if (!card || !to) throw new Error('The demo board has no card to move')
      const back = { card_id: card.id, column_id: from.id, position: 1 }
      await grace.moveCard({ card_id: card.id, column_id: to.id, position: 1 })
      // Back again when the picture is taken: the next one finds the board as this one did.
      setTimeout(() => void grace.moveCard(back).catch(() => {}), 2_500)
    }
    const show = {
      base_url,
      visitor: { email: 'ada@example.com', password: PASSWORD },
      board_id,
      empty_id,
      large_id,
      stir,
    }
    const found = await takePictures(browser, show, folder, progress)
    await pictureTwoPeople(browser, base_url, board_id, PASSWORD, join(PICTURES, 'web-two-people.png'))
    for (const name of SHOWN) await copyFile(join(folder, `${name}.png`), join(PICTURES, `web-${name}.png`))
    return {
      title: 'What it looks like',
      setting: { screens: found.length, sizes: '1440×900 and 390×844', themes: 'light and dark' },
      sections: [
        {
          heading: 'Screens',
          text: `Each was taken and looked at; those of the README are kept in [pictures](../pictures).`,
          table: {
            columns: ['screen', 'axe'],
            rows: found.map(({ picture, violations }) => [picture, violations.length]),
          },
        },
      ],
      violations: found.flatMap(({ picture, violations }) => violations.map((each) => `${picture}: ${each}`)),
    }
  } finally {
    await browser.close()
    await sql.end()
    await endProcesses()
  }
}
