import assert from 'node:assert/strict'
import type { Client } from '@lockstep/testing/client'
import { mulberry32 } from '@lockstep/testing/prng'
import { eventually } from '@lockstep/testing/processes'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { agrees, cardOf, laneOf, order, orderOf } from './board-hands.ts'
import { logIn, type Visitor } from './pages.ts'

/** Somebody who walks, or changes the same boards through the API. */
interface Walker extends Visitor {
  id: string
  api: Client
}
export interface WalkPlace {
  base_url: string
  browser: Browser
  /** Whether the browser keeps pages in its back/forward cache. */
  has_page_cache: boolean
  ada: Walker
  grace: Walker
}
export interface WalkOutcome {
  violations: string[]
  steps: number
  /** Changes that the user made, of those the ones made offline, and those refused because of what the other person did. */
  changes: number
  offline_changes: number
  refused: number
  /** Changes by the other person. */
  others: number
  navigations: number
  /** Pages that came back from the back/forward cache. */
  restored: number
}
/** A change as the page put it into its queue. */
interface Made {
  key: string
  change: { name: string; input: { id?: string; card_id?: string; title?: string } }
}

/** Runs in every page before its own scripts: tells of each change that is queued, and of pages that are restored. */
const WATCH = `
  const put = Storage.prototype.setItem
  Storage.prototype.setItem = function (id, text) {
    put.call(this, id, text)
    if (id.startsWith('lockstep/')) queued(text)
  }
  addEventListener('pageshow', (event) => event.persisted && queued('restored'))`

/** A browser context in which one can walk again and again. */
export async function openWalk(place: WalkPlace) {
  const { browser, base_url, ada } = place
  const context = await logIn(browser, base_url, ada)
  const made = new Map<string, Made>()
  const seen = { restored: 0 }
  await context.exposeBinding('queued', (_, text: string) => {
    if (text === 'restored') {
      seen.restored++
      return
    }
    const change = JSON.parse(text) as Partial<Made>
    // Drafts are kept in the same place.
    if (change.key && change.change) made.set(change.key, change as Made)
  })
  await context.addInitScript(WATCH)
  // What comes up without a network must have been there once.
  const page = await context.newPage()
  await page.goto(`${base_url}/app/boards`)
  await eventually('the service worker is there', () => page.evaluate('navigator.serviceWorker.controller !== null'))
  await page.close()
  return {
    walk: (seed: number) => new Walk(place, context, seed, made, seen).run(),
    close: () => context.close(),
  }
}

const isTrue = () => true
const isFalse = () => false
const STEPS = 20
const BACK = 19

class Walk {
  private readonly place: WalkPlace
  private readonly context: BrowserContext
  private readonly below: (n: number) => number
  private readonly seed: number
  private readonly made: Map<string, Made>
  private readonly seen: { restored: number }
  private readonly outcome: WalkOutcome
  private page!: Page
  private board_id = ''
  private column_ids: string[] = []
  private count = 0
  private isOffline = false
  /**
   * What the board showed offline after the last change, and each time it was left since. An event that was on its way when
   * the network went may come in between, so a page that returns may show either.
   */
  private shown: string[] = []
  /** Whether the other person has deleted or renamed a card: then changes may be refused. */
  private isDisturbed = false

  constructor(place: WalkPlace, context: BrowserContext, seed: number, made: Map<string, Made>, seen: Walk['seen']) {
    this.place = place
    this.context = context
    this.seed = seed
    this.made = made
    this.seen = seen
    const random = mulberry32(seed)
    this.below = (n) => Math.floor(random() * n)
    this.outcome = {
      violations: [],
      ...{ steps: 0, changes: 0, offline_changes: 0, refused: 0, others: 0, navigations: 0, restored: 0 },
    }
  }

  async run(): Promise<WalkOutcome> {
    const { outcome, seen, made } = this
    made.clear()
    seen.restored = 0
    try {
      await this.begin()
      for (; outcome.steps < STEPS; outcome.steps++) {
        await this.step()
        await this.lookForNotices()
      }
      await this.end()
    } catch (error) {
      this.violation(String(error).split('\n')[0] ?? '')
    } finally {
      await this.context.setOffline(false)
      await this.page?.close()
    }
    outcome.restored = seen.restored
    return outcome
  }

  private violation(text: string) {
    this.outcome.violations.push(`seed ${this.seed}, step ${this.outcome.steps}: ${text}`)
  }

  private get url() {
    return `${this.place.base_url}/app/b/${this.board_id}`
  }

  private async begin() {
    const { ada, grace } = this.place
    const { id: board_id } = await ada.api.call('createBoard', { body: { title: `Walk ${this.seed}` } })
    await ada.api.call('inviteMember', { params: { board_id }, body: { user_id: grace.id } })
    this.board_id = board_id
    for (const title of ['To do', 'Doing']) {
      const { id: column_id } = await ada.api.call('createColumn', { params: { board_id }, body: { title } })
      this.column_ids.push(column_id)
      for (const n of [1, 2])
        await ada.api.call('createCard', { params: { board_id, column_id }, body: { title: `${title} ${n}` } })
    }
    await this.open()
  }

  private async open() {
    this.page = await this.context.newPage()
    await this.page.goto(this.url)
    await this.page.locator('main.board').waitFor()
  }

  private async step() {
    const isHere = this.page.url() === this.url
    const kind = this.below(20)
    if (kind <= 8) return isHere ? this.change() : this.navigate(isHere, BACK)
    if (kind <= 10) return this.changeByGrace()
    if (kind <= 13) return this.toggleNetwork()
    await this.navigate(isHere, kind)
  }

  /** The user changes a card that is shown, by keys. */
  private async change() {
    const { page } = this
    const before = this.made.size
    const titles = (await order(page)).flatMap(([, cards]) => cards)
    const title = titles[this.below(titles.length)]
    const kind = title === undefined ? 0 : this.below(8)
    const name = `walk ${this.seed} ${this.count++}`
    if (kind <= 2) {
      await laneOf(page, ['To do', 'Doing'][this.below(2)] as string)
        .getByRole('button', { name: 'Add a card' })
        .click()
      await page.getByLabel('Title of the new card').fill(name)
      await page.keyboard.press('Enter')
      await page.keyboard.press('Escape')
    } else {
      // It may be moved or deleted by the other person at this moment.
      const card = cardOf(page, title as string).locator('a')
      if (!(await card.focus({ timeout: 2_000 }).then(isTrue, isFalse))) return
      if (kind <= 4) {
        await page.keyboard.press(['Shift+ArrowRight', 'Shift+ArrowLeft', 'Shift+ArrowDown'][this.below(3)] as string)
      } else if (kind <= 6) {
        await page.keyboard.press('e')
        const field = page.getByLabel('Title', { exact: true })
        // Letters that are typed without a field are shortcuts.
        if (!(await field.waitFor({ timeout: 2_000 }).then(isTrue, isFalse))) return
        await field.fill(name)
        await field.press('Enter')
      } else await page.keyboard.press('Delete')
    }
    // Whatever was queued is told of before this answer.
    await page.evaluate('0')
    const made = this.made.size - before
    this.outcome.changes += made
    if (this.isOffline) this.outcome.offline_changes += made
    this.shown = this.isOffline ? [await this.text()] : []
  }

  private async text() {
    return JSON.stringify(await order(this.page))
  }

  private async changeByGrace() {
    const { api } = this.place.grace
    const board_id = this.board_id
    const column_id = this.column_ids[this.below(2)] as string
    const { columns } = await api.call('getBoard', { params: { board_id } })
    const cards = columns.flatMap((column) => column.cards)
    const { id: card_id } = cards[this.below(cards.length)] ?? {}
    const kind = card_id === undefined ? 0 : this.below(7)
    const title = `by Grace ${this.count++}`
    const params = { card_id: card_id as string }
    this.isDisturbed ||= kind > 4
    // The user may have deleted the card since it was read: then there is nothing to change.
    const ifThere = <T>(change: Promise<T>) => change.catch((error: unknown) => assert.match(String(error), /\b404\b/))
    if (kind <= 2) await api.call('createCard', { params: { board_id, column_id }, body: { title, position: 0 } })
    else if (kind <= 4) await ifThere(api.call('moveCard', { params, body: { column_id, position: this.below(3) } }))
    else if (kind === 5) await ifThere(api.call('updateCard', { params, body: { title } }))
    else await ifThere(api.call('deleteCard', { params }))
    this.outcome.others++
  }

  private async toggleNetwork() {
    this.isOffline = !this.isOffline
    await this.context.setOffline(this.isOffline)
    this.shown = []
  }

  /** Goes elsewhere, back, forward, or loads the page again. */
  private async navigate(isHere: boolean, kind: number) {
    const { page } = this
    this.outcome.navigations++
    const wasCached = this.seen.restored
    if (isHere && this.shown.length > 0) this.shown.push(await this.text())
    switch (kind) {
      case 14:
        await page.goto(`${this.place.base_url}/app/settings`)
        break
      case 15:
        await page.reload()
        break
      case 16:
        await page.close()
        await this.open()
        break
      case 17:
        if (isHere) await page.locator('.board-home').click()
        else await page.goto(this.url)
        break
      case 18:
        await page.goForward({ waitUntil: 'commit' })
        break
      default:
        await page.goBack({ waitUntil: 'commit' })
    }
    // A new tab has nothing to go back to.
    if (this.page.url() === 'about:blank') await this.page.goto(this.url)
    if (!this.place.has_page_cache) await this.page.waitForLoadState()
    if (this.page.url() !== this.url) return
    await this.page.locator('main.board').waitFor()
    // What the page tells of its restoration is here before this answer.
    await this.page.evaluate('0')
    // A page that was restored does not know what another one of the same tab did after it.
    if (this.shown.length === 0 || this.seen.restored > wasCached) return
    await eventually('it shows what it did before', async () => this.isAsBefore(await this.text()), 5_000).catch(
      async () =>
        this.violation(`offline it shows ${await this.text()}, and not one of ${this.shown.join(' ')} as before`),
    )
  }

  /**
   * Offline, a page shows what was shown before. An event of the other person may come late, through the service worker or
   * a socket that the browser does not cut off: then the user's cards must still be there, unless the other person has
   * deleted or renamed some.
   */
  private isAsBefore(text: string) {
    if (this.shown.includes(text)) return true
    const ownTitles = this.shown.at(-1)?.match(new RegExp(`"walk ${this.seed} \\d+"`, 'g')) ?? []
    return this.outcome.others > 0 && (this.isDisturbed || ownTitles.every((title) => text.includes(title)))
  }

  /** Nothing may be refused as long as nobody else has deleted or renamed anything. */
  private async lookForNotices() {
    if (this.isDisturbed || this.page.url() !== this.url) return
    const notices = await this.page.getByRole('alert').allTextContents()
    if (notices.join('').trim()) this.violation(`it says: ${notices.join()}`)
  }

  private async end() {
    this.isOffline = false
    await this.context.setOffline(false)
    if (this.page.url() !== this.url) await this.page.goto(this.url)
    const { page, board_id, outcome } = this
    const { api } = this.place.grace
    const waiting = () =>
      page.evaluate(
        `Object.keys(localStorage).filter((id) => id.startsWith('lockstep/') && id.includes('${board_id}')
          && localStorage[id].includes('"change"')).length`,
      ) as Promise<number>
    // As somebody who comes back to the tab would.
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    const isDone = async () =>
      (await waiting()) === 0 && (await agrees(page, await orderOf(api, board_id))).length === 0
    // A board that is drawn again while it is looked at is looked at again.
    await eventually('everything is sent and shown', () => isDone().catch(() => false), 60_000).catch(async () =>
      this.violation(
        `${await waiting()} changes wait; ${(await agrees(page, await orderOf(api, board_id))).join('; ')}`,
      ),
    )
    const events = await api.call('listEvents', { params: { board_id }, query: { after: '1.0', limit: 500 } })
    const happened = (type: string, id: string | undefined, title?: string) =>
      events.filter((event) => {
        const data = event.data as { id: string; title: string }
        return event.type === type && data.id === id && (title === undefined || data.title === title)
      })
    const notices = (await page.getByRole('alert').allTextContents()).join(' ')
    for (const { change } of this.made.values()) {
      const { id = change.input.card_id, title } = change.input
      const isMine = ({ user_id }: { user_id: string | null }) => user_id === this.place.ada.id
      const counts: Record<string, () => number> = {
        createCard: () => happened('card.created', id).length,
        updateCard: () => happened('card.updated', id, title).length,
        deleteCard: () => Math.min(1, happened('card.deleted', id).length),
        moveCard: () => {
          const wanted = [...this.made.values()].filter(
            (each) => each.change.name === 'moveCard' && each.change.input.card_id === id,
          )
          return happened('card.moved', id).filter(isMine).length / wanted.length
        },
      }
      const times = counts[change.name]?.()
      if (times === 1) continue
      // Refused for a true reason: the other person has deleted the card, or written another title.
      const isGone = happened('card.deleted', id).some((event) => !isMine(event))
      const isConflict = change.name === 'updateCard' && happened('card.updated', id).some((event) => !isMine(event))
      if ((isGone || isConflict) && (times ?? 0) < 1) outcome.refused++
      else this.violation(`${change.name} of ${id} ${title ?? ''} happened ${times} times; notices: ${notices}`)
    }
  }
}
