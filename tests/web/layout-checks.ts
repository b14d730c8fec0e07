import type { Page } from 'playwright-core'
import { animationsEnd } from './page-checks.ts'

/** Runs in the page: finds elements that overflow the screen, are cut off, or are too small as targets. */
const LAYOUT_PROBLEMS = `((least) => {
  const found = []
  const wide = document.documentElement
  if (wide.scrollWidth > wide.clientWidth) found.push('the page is ' + wide.scrollWidth + ' wide of ' + wide.clientWidth)
  const root = [...document.querySelectorAll('.layer')].at(-1) ?? document
  const all = 'a[href], button, input, textarea, summary, [role=option], [role^=menuitem]'
  const nameOf = (element) => element.tagName.toLowerCase() + '.' + element.className + ' “' +
    (element.ariaLabel ?? element.textContent).trim().slice(0, 30) + '”'
  for (const element of root.querySelectorAll(all)) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue
    // A drop-down list has a hidden field for forms.
    if (element.closest('.visually-hidden, .skip, [inert], [aria-hidden=true]')) continue
    const box = element.getBoundingClientRect()
    if (box.width === 0) continue
    const name = nameOf(element)
    // The columns scroll horizontally by design.
    const strip = element.closest('.board')
    if (!strip && (box.left < -0.5 || box.right > wide.clientWidth + 0.5))
      found.push(name + ' is outside: ' + Math.round(box.left) + ' to ' + Math.round(box.right))
    for (let parent = element.parentElement; parent && parent !== strip; parent = parent.parentElement) {
      if (getComputedStyle(parent).overflowX === 'visible') continue
      const frame = parent.getBoundingClientRect()
      if (box.left < frame.left - 1 || box.right > frame.right + 1) {
        found.push(name + ' is cut off by .' + parent.className)
        break
      }
    }
    const { textOverflow, display } = getComputedStyle(element)
    if (element.matches('button, a') && display !== 'inline' && textOverflow !== 'ellipsis' &&
      element.scrollWidth > element.clientWidth + 4) found.push(name + ' does not hold its text')
    // Links within a sentence are exempt from the target size (WCAG 2.5.8).
    const around = element.closest('p, li, td')?.textContent.trim() ?? ''
    const isInText = display === 'inline' && element.matches('a, button') &&
      around.length > element.textContent.trim().length + 2
    const own = element.closest('label') ?? (element.matches('.card-title') ? element.closest('.card') : element)
    const target = own.getBoundingClientRect()
    if (isInText || (target.width >= least - 0.5 && target.height >= least - 0.5)) continue
    // A small control may have a larger hit area.
    element.scrollIntoView({ block: 'center', inline: 'nearest' })
    const now = own.getBoundingClientRect()
    const reach = least / 2 - 1
    const [x, y] = [now.left + now.width / 2, now.top + now.height / 2]
    const hits = [[0, -reach], [0, reach], [-reach, 0], [reach, 0]].every(([dx, dy]) => {
      const hit = document.elementFromPoint(x + dx, y + dy)
      return hit && (own.contains(hit) || hit.closest('label')?.control === element)
    })
    if (!hits) found.push(name + ' is ' + Math.round(target.width) + ' × ' + Math.round(target.height))
  }
  return [...new Set(found)]
})`

/** Layout problems of the current page. */
export async function findLayoutProblems(page: Page, leastPx: number): Promise<string[]> {
  await animationsEnd(page)
  return page.evaluate(`${LAYOUT_PROBLEMS}(${leastPx})`) as Promise<string[]>
}

/** Runs in the page: finds invisible controls, and states that differ only by a colour. */
const INDISTINGUISHABLE_STATES = `(() => {
  const look = (element) => {
    const { backgroundColor, forcedColorAdjust, borderTopWidth, outlineStyle, outlineWidth } = getComputedStyle(element)
    // A swatch shows its own colour, which is not a state.
    const background = forcedColorAdjust === 'none' ? '' : backgroundColor
    const hasTick = element.querySelector('.menu-check svg') !== null
    return [background, borderTopWidth, outlineStyle, outlineWidth, hasTick].join(' ')
  }
  const same = []
  for (const state of ['aria-pressed', 'aria-selected', 'aria-current', 'aria-checked'])
    for (const on of document.querySelectorAll('[' + state + '=true]')) {
      const off = [...document.querySelectorAll('[' + state + '=false]')].find((each) => each.className === on.className)
      if (off && look(on) === look(off)) same.push(on.className + ' “' + on.textContent + '”')
    }
  const canvas = getComputedStyle(document.body).backgroundColor
  const isDrawn = (element) => {
    const { backgroundColor, borderTopWidth, borderTopStyle } = getComputedStyle(element)
    const isFilled = backgroundColor !== canvas && !backgroundColor.endsWith(', 0)')
    return isFilled || (borderTopStyle !== 'none' && parseFloat(borderTopWidth) > 0)
  }
  for (const control of document.querySelectorAll('a[href], button, [role^=menuitem]'))
    if (control.checkVisibility() && !control.textContent.trim() &&
      !control.querySelector('svg, img') && ![control, ...control.querySelectorAll('*')].some(isDrawn))
      same.push('invisible: ' + control.outerHTML.slice(0, 120))
  return same
})()`
export const indistinguishableStates = (page: Page): Promise<string[]> =>
  page.evaluate(INDISTINGUISHABLE_STATES) as Promise<string[]>

/** Runs in the page: whether the focused element or its frame has a focus ring. */
const FOCUS_RING = `(() => {
  const isRing = (element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 || boxShadow.includes('inset')
  }
  const { activeElement } = document
  if (activeElement === document.body) return 'page'
  const frames = [activeElement, activeElement.closest('.card, .composer, .filter-box, .dialog-head')]
  return frames.some((frame) => frame && isRing(frame)) ? 'ring' : activeElement.outerHTML.slice(0, 160)
})()`
export const focusRing = (page: Page): Promise<string> => page.evaluate(FOCUS_RING) as Promise<string>
