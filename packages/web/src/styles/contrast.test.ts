import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { personColors, RULE_COLOR } from '../ui/person-color.ts'

/** Linear RGB, each channel from 0 to 1. */
type LinearRgb = [red: number, green: number, blue: number]
const themes = ['light', 'dark'] as const
type ThemeName = (typeof themes)[number]

const SOURCE = new URL('..', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, SOURCE), 'utf8')
const tokens = read('styles/tokens.css')
const base = read('styles/base.css')

const toLinear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
const clip = (value: number) => Math.min(1, Math.max(0, value))

/** `#fff` or `#rrggbb`. */
function hex(text: string): LinearRgb {
  const digits =
    text.length === 4
      ? text
          .slice(1)
          .split('')
          .map((digit) => digit + digit)
      : (text.slice(1).match(/../g) ?? [])
  return digits.map((pair) => toLinear(Number.parseInt(pair, 16) / 255)) as LinearRgb
}

/** Converts OKLab to linear RGB. Out-of-gamut values are clipped, as in browsers. */
function oklab(lightness: number, a: number, b: number): LinearRgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    clip(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    clip(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    clip(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ]
}
function toOklab([red, green, blue]: LinearRgb): [number, number, number] {
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}
const oklch = (lightness: number, chroma: number, degrees: number) => {
  const angle = (degrees * Math.PI) / 180
  return oklab(lightness, chroma * Math.cos(angle), chroma * Math.sin(angle))
}
const mixed = (one: LinearRgb, other: LinearRgb, share: number) => {
  const [from, to] = [toOklab(one), toOklab(other)]
  return oklab(...(from.map((value, i) => value + (to[i as 0] - value) * share) as LinearRgb))
}

const brightness = ([red, green, blue]: LinearRgb) => 0.2126 * red + 0.7152 * green + 0.0722 * blue
function contrast(one: LinearRgb, other: LinearRgb): number {
  const [dark, bright] = [brightness(one), brightness(other)].sort((a, b) => a - b) as [number, number]
  return (bright + 0.05) / (dark + 0.05)
}

function token(name: string, theme: ThemeName): LinearRgb {
  const [, light, dark] = new RegExp(`--${name}: light-dark\\((#\\w+), (#\\w+)\\)`).exec(tokens) ?? []
  if (!light || !dark) throw new Error(`Unknown token ${name}`)
  return hex(theme === 'light' ? light : dark)
}
/** The token pairs with too little contrast. */
const lowContrast = (theme: ThemeName, pairs: readonly [string, string][], minimum: number) =>
  pairs
    .map(([foreground, background]) => ({
      pair: `${foreground} on ${background}`,
      has: contrast(token(foreground, theme), token(background, theme)),
    }))
    .filter(({ has }) => has < minimum)

const on = (foregrounds: string[], backgrounds: string[]) =>
  foregrounds.flatMap((foreground) => backgrounds.map((background): [string, string] => [foreground, background]))
const backgrounds = ['paper', 'column', 'surface', 'hover']
const soft = ['accent-soft', 'danger-soft', 'warn-soft', 'ok-soft']
/** Buttons, chips, and rows under the pointer. */
const fills = ['fill', 'fill-hover']

const texts: [string, string][] = [
  ...on(['ink', 'ink2'], [...backgrounds, ...fills, ...soft]),
  ...on(['ink3'], [...backgrounds, 'fill']),
  ...on(['danger'], [...backgrounds, ...fills]),
  ...on(['accent'], ['paper', 'surface', 'hover']),
  ['on-accent', 'accent'],
  ['danger', 'danger-soft'],
  ['warn', 'warn-soft'],
  ['ok', 'ok-soft'],
  // Toasts, the skip link and the number of further avatars.
  ['paper', 'ink'],
  ['paper', 'ink2'],
]
const controls: [string, string][] = [
  ...on(['focus'], [...backgrounds, ...fills, ...soft]),
  ...on(['line-strong'], ['paper', 'column', 'surface', 'hover']),
  ...on(['accent', 'ok'], ['paper', 'surface']),
  ['accent', 'accent-soft'],
]

describe.each(themes)('%s', (theme) => {
  test('[WEB-79] text has enough contrast on every background', () => {
    expect(lowContrast(theme, texts, 4.5)).toEqual([])
  })

  test('[WEB-79] borders of controls and the focus ring have enough contrast', () => {
    expect(lowContrast(theme, controls, 3)).toEqual([])
  })

  test('[WEB-79] rules with text and background colour have enough contrast', () => {
    const named = globSync('**/*.css', { cwd: SOURCE }).flatMap((file) =>
      [...read(file).matchAll(/[^{}]*\{([^{}]*)/g)].flatMap(([, rule = '']) => {
        const [, foreground] = /(?:^|[\s;])color: var\(--([\w-]+)\)/.exec(rule) ?? []
        const [, background] = /background(?:-color)?: var\(--([\w-]+)\)/.exec(rule) ?? []
        return foreground && background ? [[foreground, background] as [string, string]] : []
      }),
    )
    expect(named.length).toBeGreaterThan(10)
    expect(lowContrast(theme, named, 4.5)).toEqual([])
  })

  test('[WEB-79] the hovered button has enough contrast', () => {
    const [, share] = /background: color-mix\(in oklab, var\(--accent\), var\(--ink\) (\d+)%\)/.exec(base) ?? []
    const background = mixed(token('accent', theme), token('ink', theme), Number(share) / 100)
    expect(contrast(token('on-accent', theme), background)).toBeGreaterThan(4.5)
  })
})

test('[WEB-79] the initials of avatars and the names on marks have enough contrast in every colour of a person', () => {
  const rules = [base, read('board/board.css')].flatMap(
    (css) => css.match(/color: #fff;\s*background: var\(--c\)/g) ?? [],
  )
  expect(rules.length).toBe(2)
  for (const color of [...personColors, RULE_COLOR]) expect(contrast([1, 1, 1], hex(color)), color).toBeGreaterThan(4.5)
})

test('[WEB-79] the colour conversion is the same as in browsers', () => {
  expect(contrast(hex('#000'), hex('#fff'))).toBeCloseTo(21)
  expect(contrast(hex('#767676'), hex('#fff'))).toBeCloseTo(4.54, 2)
  const bytes = (light: LinearRgb) =>
    light.map((value) => Math.round(255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055)))
  expect(bytes(mixed(hex('#000'), hex('#fff'), 0.5))).toEqual([99, 99, 99])
  expect(bytes(oklch(0.6279, 0.2577, 29.23))).toEqual([255, 0, 0])
})
