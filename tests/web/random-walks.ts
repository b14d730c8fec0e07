import assert from 'node:assert/strict'
import type { Client } from '@lockstep/testing/client'
import { mulberry32 } from '@lockstep/testing/prng'
import { eventually } from '@lockstep/testing/processes'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { cardOf, columnOf, differencesFrom, shownOrder, storedOrder } from './board-page-object.ts'
import { type Credentials, logIn } from './page-checks.ts'

/** A user of the browser or the API. */
interface WalkUser extends Credentials {
  id: string
  api: Client
}
export interface WalkSetup {
  baseUrl: string
  browser: Browser
  /** Whether the browser keeps pages in its back/forward cache. */
  hasPageCache: boolean
  ada: WalkUser
  grace: WalkUser
}
export interface WalkOutcome {
  violations: string[]
  steps: number
  /** Changes by the user, those made offline, and those rejected because of changes by the other user. */
  changes: number
  offlineChanges: number
  rejected: number
  /** Changes by the other user. */
  others: number
  navigations: number
  /** Pages restored from the back/forward cache. */
  restored: number
}
/** A change in the page's queue. */
interface QueuedChange {
  key: string
  change: { name: string; input: { id?: string; card_id?: string; title?: string } }
}

/** Init script: reports queued changes and restored pages. */
const RECORD_QUEUE = `
  const put = Storage.prototype.setItem
  Storage.prototype.setItem = function (id, text) {
    put.call(this, id, text)
    if (id.startsWith('lockstep/')) queued(text)
  }
  addEventListener('pageshow', (event) => event.persisted && queued('restored'))`

/** Opens a browser context for random walks: changes, navigation and network failures in random order. */
export async function openRandomWalk(setup: WalkSetup) {
  const { browser, baseUrl, ada } = setup
  const context = await logIn(browser, baseUrl, ada)
  const queued = new Map<string, QueuedChange>()
  const seen = { restored: 0 }
  await context.exposeBinding('queued', (_, text: string) => {
    if (text === 'restored') {
      seen.restored++
      return
    }
    const change = JSON.parse(text) as Partial<QueuedChange>
    // Drafts are in the same storage.
    if (change.key && change.change) queued.set(change.key, change as QueuedChange)
  })
  await context.addInitScript(RECORD_QUEUE)
  // Load a page once, so that the service worker can serve it offline.
  const page = await context.newPage()
  await page.goto(`${baseUrl}/app/boards`)
  await eventually('the service worker is active', () => page.evaluate('navigator.serviceWorker.controller !== null'))
  await page.close()
  return {
    walk: (seed: number) => new RandomWalk(setup, context, seed, queued, seen).run(),
    close: () => context.close(),
  }
}

const isTrue = () => true
const isFalse = () => false
const STEPS = 20
const BACK = 19

class RandomWalk {
  private readonly setup: WalkSetup
  private readonly context: BrowserContext
  private readonly below: (n: number) => number
  private readonly seed: number
  private readonly queued: Map<string, QueuedChange>
  private readonly seen: { restored: number }
  private readonly outcome: WalkOutcome
  private page!: Page
  private board_id = ''
  private columnIds: string[] = []
  private count = 0
  private isOffline = false
  /**
   * What the board showed offline after the last change, and each time it was left since. An event that was in transit when the
   * network failed may arrive in between, so a page may show any of them later.
   */
  private shown: string[] = []
  /** Whether the other user has deleted or renamed a card, so that changes may be rejected. */
  private mayBeRejected = false

  constructor(
    setup: WalkSetup,
    context: BrowserContext,
    seed: number,
    queued: Map<string, QueuedChange>,
    seen: RandomWalk['seen'],
  ) {
    this.setup = setup
    this.context = context
    this.seed = seed
    this.queued = queued
    this.seen = seen
    const random = mulberry32(seed)
    this.below = (n) => Math.floor(random() * n)
    this.outcome = {
      violations: [],
      ...{ steps: 0, changes: 0, offlineChanges: 0, rejected: 0, others: 0, navigations: 0, restored: 0 },
    }
  }

  async run(): Promise<WalkOutcome> {
    const { outcome, seen, queued } = this
    queued.clear()
    seen.restored = 0
    try {
      await this.begin()
      for (; outcome.steps < STEPS; outcome.steps++) {
        await this.step()
        await this.checkFailedChanges()
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
    return `${this.setup.baseUrl}/app/b/${this.board_id}`
  }

  private async begin() {
    const { ada, grace } = this.setup
    const { id: board_id } = await ada.api.call('createBoard', { body: { title: `RandomWalk ${this.seed}` } })
    await ada.api.call('inviteMember', { params: { board_id }, body: { user_id: grace.id } })
    this.board_id = board_id
    for (const title of ['To do', 'Doing']) {
      const { id: column_id } = await ada.api.call('createColumn', { params: { board_id }, body: { title } })
      this.columnIds.push(column_id)
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

  /** The user changes a visible card with shortcuts. */
  private async change() {
    const { page } = this
    const before = this.queued.size
    const titles = (await shownOrder(page)).flatMap(([, cards]) => cards)
    const title = titles[this.below(titles.length)]
    const kind = title === undefined ? 0 : this.below(8)
    const name = `walk ${this.seed} ${this.count++}`
    if (kind <= 2) {
      await columnOf(page, ['To do', 'Doing'][this.below(2)] as string)
        .getByRole('button', { name: 'Add card' })
        .click()
      await page.getByLabel('Card title').fill(name)
      await page.keyboard.press('Enter')
      await page.keyboard.press('Escape')
    } else {
      // The other user may move or delete it at this moment.
      const card = cardOf(page, title as string).locator('a')
      if (!(await card.focus({ timeout: 2_000 }).then(isTrue, isFalse))) return
      if (kind <= 4) {
        await page.keyboard.press(['Shift+ArrowRight', 'Shift+ArrowLeft', 'Shift+ArrowDown'][this.below(3)] as string)
      } else if (kind <= 6) {
        await page.keyboard.press('e')
        const field = page.getByLabel('Title', { exact: true })
        // Without the field, typed letters would be shortcuts.
        if (!(await field.waitFor({ timeout: 2_000 }).then(isTrue, isFalse))) return
        await field.fill(name)
        await field.press('Enter')
      } else await page.keyboard.press('Delete')
    }
    // Changes queued before this call have been reported when it returns.
    await page.evaluate('0')
    const made = this.queued.size - before
    this.outcome.changes += made
    if (this.isOffline) this.outcome.offlineChanges += made
    this.shown = this.isOffline ? [await this.text()] : []
  }

  private async text() {
    return JSON.stringify(await shownOrder(this.page))
  }

  private async changeByGrace() {
    const { api } = this.setup.grace
    const board_id = this.board_id
    const column_id = this.columnIds[this.below(2)] as string
    const { columns } = await api.call('getBoard', { params: { board_id } })
    const cards = columns.flatMap((column) => column.cards)
    const { id: card_id } = cards[this.below(cards.length)] ?? {}
    const kind = card_id === undefined ? 0 : this.below(7)
    const title = `by Grace ${this.count++}`
    const params = { card_id: card_id as string }
    this.mayBeRejected ||= kind > 4
    // The user may have deleted the card in the meantime.
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

  /** Navigates to another page, back or forward, or reloads. */
  private async navigate(isHere: boolean, kind: number) {
    const { page } = this
    this.outcome.navigations++
    const wasCached = this.seen.restored
    if (isHere && this.shown.length > 0) this.shown.push(await this.text())
    switch (kind) {
      case 14:
        await page.goto(`${this.setup.baseUrl}/app/settings`)
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
    // A new tab has no history.
    if (this.page.url() === 'about:blank') await this.page.goto(this.url)
    if (!this.setup.hasPageCache) await this.page.waitForLoadState()
    if (this.page.url() !== this.url) return
    await this.page.locator('main.board').waitFor()
    // A restored page has reported it when this call returns.
    await this.page.evaluate('0')
    // A restored page does not know later changes by another page of the same tab.
    if (this.shown.length === 0 || this.seen.restored > wasCached) return
    await eventually('the page shows the same as before', async () => this.isAsBefore(await this.text()), 5_000).catch(
      async () =>
        this.violation(`offline the page shows ${await this.text()}, expected one of ${this.shown.join(' ')}`),
    )
  }

  /**
   * Offline, a page shows the same as before. A late event of the other user may still arrive, through the service worker or a
   * socket that the browser keeps open: then the user's cards must still exist, unless the other user has deleted or renamed
   * some.
   */
  private isAsBefore(text: string) {
    if (this.shown.includes(text)) return true
    const ownTitles = this.shown.at(-1)?.match(new RegExp(`"walk ${this.seed} \\d+"`, 'g')) ?? []
    return this.outcome.others > 0 && (this.mayBeRejected || ownTitles.every((title) => text.includes(title)))
  }

  /** No change may be rejected while the other user has not deleted or renamed anything. */
  private async checkFailedChanges() {
    if (this.mayBeRejected || this.page.url() !== this.url) return
    const failures = await this.page.getByRole('alert').allTextContents()
    if (failures.join('').trim()) this.violation(`unexpected failure: ${failures.join()}`)
  }

  private async end() {
    this.isOffline = false
    await this.context.setOffline(false)
    if (this.page.url() !== this.url) await this.page.goto(this.url)
    const { page, board_id, outcome } = this
    const { api } = this.setup.grace
    const waiting = () =>
      page.evaluate(
        `Object.keys(localStorage).filter((id) => id.startsWith('lockstep/') && id.includes('${board_id}')
          && localStorage[id].includes('"change"')).length`,
      ) as Promise<number>
    // As when the user returns to the tab.
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    const isDone = async () =>
      (await waiting()) === 0 && (await differencesFrom(page, await storedOrder(api, board_id))).length === 0
    // Retry if the board is rendered during the comparison.
    await eventually('everything is sent and shown', () => isDone().catch(() => false), 60_000).catch(async () =>
      this.violation(
        `${await waiting()} changes are queued; ${(await differencesFrom(page, await storedOrder(api, board_id))).join('; ')}`,
      ),
    )
    const events = await api.call('listEvents', { params: { board_id }, query: { after: '1.0', limit: 500 } })
    const happened = (type: string, id: string | undefined, title?: string) =>
      events.filter((event) => {
        const data = event.data as { id: string; title: string }
        return event.type === type && data.id === id && (title === undefined || data.title === title)
      })
    const failures = (await page.getByRole('alert').allTextContents()).join(' ')
    for (const { change } of this.queued.values()) {
      const { id = change.input.card_id, title } = change.input
      const isMine = ({ user_id }: { user_id: string | null }) => user_id === this.setup.ada.id
      const counts: Record<string, () => number> = {
        createCard: () => happened('card.created', id).length,
        updateCard: () => happened('card.updated', id, title).length,
        archiveCard: () => Math.min(1, happened('card.deleted', id).length),
        moveCard: () => {
          const wanted = [...this.queued.values()].filter(
            (each) => each.change.name === 'moveCard' && each.change.input.card_id === id,
          )
          return happened('card.moved', id).filter(isMine).length / wanted.length
        },
      }
      const times = counts[change.name]?.()
      if (times === 1) continue
      // A valid rejection: the other user has deleted the card or changed its title.
      const isGone = happened('card.deleted', id).some((event) => !isMine(event))
      const isConflict = change.name === 'updateCard' && happened('card.updated', id).some((event) => !isMine(event))
      if ((isGone || isConflict) && (times ?? 0) < 1) outcome.rejected++
      else this.violation(`${change.name} of ${id} ${title ?? ''} was applied ${times} times; failures: ${failures}`)
    }
  }
}
