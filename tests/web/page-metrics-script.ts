/**
 * Init script that measures inside the page. It is a string, so that it is not transpiled. Results are in `measured`; times are
 * from `performance.now()`, which starts with the navigation.
 */
export const MEASURE = `
  globalThis.measured = { drops: [], keys: [], echoes: [], shifts: [], long: [], frames: 0, interactive: undefined }
  // The first task after a frame callback runs once the frame is painted.
  measured.afterPaint = (then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => then()
    port2.postMessage(0)
  })
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) measured.long.push({ start: startTime, ms: duration })
  }).observe({ type: 'longtask', buffered: true })
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) measured.shifts.push({ value, isExpected: hadRecentInput })
  }).observe({ type: 'layout-shift', buffered: true })

  addEventListener('drop', ({ timeStamp }) => measured.afterPaint(() => measured.drops.push({
    ms: performance.now() - timeStamp, isPlaced: !document.querySelector('.placeholder'),
  })), true)

  // The typed letter and the filtered cards may be painted in the same frame, or the letter first.
  let pressed = 0
  addEventListener('keydown', ({ timeStamp }) => { pressed = timeStamp }, true)
  addEventListener('input', () => {
    const key = { since: pressed, expected: measured.expected, letterMs: undefined, cardsMs: undefined }
    const look = () => {
      const ms = performance.now() - key.since
      key.letterMs ??= ms
      if (document.querySelector('.filter-count')?.textContent !== key.expected) return measured.afterPaint(look)
      key.cardsMs = ms
      measured.keys.push(key)
    }
    measured.afterPaint(look)
  }, true)

  // Interactive: the first card, or the first board of the list, is painted and focusable, and no task over 50 ms follows within 200 ms.
  const settle = (since) => setTimeout(() => {
    const last = measured.long.findLast(({ start, ms }) => start + ms > since)
    if (last) settle(last.start + last.ms)
    else measured.interactive = since
  }, Math.max(0, since + 260 - performance.now()))
  const coming = new MutationObserver(() => {
    const card = document.querySelector('.card-title[tabindex="0"], .tiles a')
    if (!card) return
    coming.disconnect()
    measured.afterPaint(() => {
      measured.firstCard = performance.now()
      card.focus()
      if (document.activeElement === card) settle(performance.now())
    })
  })
  coming.observe(document, { subtree: true, childList: true })

  // The title contains the time at which the change was sent.
  measured.listenTo = (card_id) => {
    let last
    new MutationObserver(() => {
      const text = document.querySelector('[data-card-id="' + card_id + '"] .card-title')?.textContent
      const sent = /^sent at (\\d+)$/.exec(text)?.[1]
      if (!sent || sent === last) return
      last = sent
      measured.afterPaint(() => measured.echoes.push(Date.now() - Number(sent)))
    }).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true })
  }
  measured.countFrames = () => requestAnimationFrame(function frame() {
    measured.frames++
    requestAnimationFrame(frame)
  })`

/** A fixed workload similar to a board (objects, sorting, text). Returns the durations of several runs. */
export const WORK = `(async () => {
  const work = () => {
    let seed = 7
    const next = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff)
    const cards = Array.from({ length: 12_000 }, (_, i) => ({ id: 'card-' + next(), title: 'Card ' + i, rank: next() }))
    cards.sort((one, other) => one.rank - other.rank || (one.id < other.id ? -1 : 1))
    const columns = Map.groupBy(JSON.parse(JSON.stringify(cards)), ({ rank }) => rank % 7)
    return [...columns.values()].map((column) => column.filter(({ title }) => title.includes('1')).length).length
  }
  const times = []
  for (let i = 0; i < 60; i++) {
    const began = performance.now()
    work()
    times.push(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, 4))
  }
  return times.slice(20)
})()`
