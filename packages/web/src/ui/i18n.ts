import { createI18n, type TranslationsJSON, transform } from '@nanostores/i18n'
import { atom } from 'nanostores'
import { readStored } from './browser-storage.ts'

/** The names in `{braces}` of a message. */
type ParamName<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never
type Params<Text extends string> = Record<ParamName<Text>, string | number>

const numbers = new Intl.NumberFormat(globalThis.navigator?.language)
export const formatNumber = (value: number): string => numbers.format(value)

/** One pass with a function: a value may contain braces or `$&`, because people type them. */
const fill = (text: string, values: Record<string, string | number>): string =>
  text.replace(/\{(\w+)\}/g, (all, name: string) => {
    const value = values[name]
    return typeof value === 'number' ? formatNumber(value) : (value ?? all)
  })

/** A message with `{name}` parameters. */
export const params = transform((_locale, text: string, values: Record<string, string | number>) =>
  fill(text, values),
) as <Text extends string>(text: Text) => (values: Params<Text>) => string

/** Creating a rule takes longer than formatting a message, and a busy board formats hundreds a second. */
const pluralRules = new Map<string, Intl.PluralRules>()
const rulesOf = (locale: string) => {
  const rules = pluralRules.get(locale) ?? new Intl.PluralRules(locale)
  pluralRules.set(locale, rules)
  return rules
}

/** A message whose form depends on `count`. It may have other parameters too. */
export const plural = transform((locale, forms: TranslationsJSON, values: Record<string, string | number>) => {
  const text = forms[rulesOf(locale).select(Number(values['count']))] ?? forms['other']
  return fill(text as string, values)
}) as <One extends string, Other extends string>(forms: {
  one: One
  other: Other
}) => (values: Params<One> & Params<Other> & { count: number }) => string

const letters: Partial<Record<string, string>> = Object.fromEntries(
  'aá eé ií oó uú AÁ EÉ IÍ OÓ UÚ cç nñ yý CÇ NÑ YÝ'.split(' ').map((pair) => [pair[0], pair[1]]),
)
/** Marks a text as translated: `Add card` becomes `⟦Ádd çárd⟧`. Parameters stay. */
const pseudo = (text: string): string =>
  `⟦${text.replace(/\{\w+\}|[a-z]/gi, (part) => (part.startsWith('{') ? part : (letters[part] ?? part)))}⟧`

/** The pseudo-locale finds text that is not in the catalogue: everything else is in double brackets. */
const isPseudo = 'document' in globalThis && readStored('language') === 'en-XA'

const pseudoTranslations = (texts: TranslationsJSON): TranslationsJSON =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [
      key,
      typeof text === 'string' ? pseudo(text) : pseudoTranslations(text),
    ]),
  )

const i18n = createI18n(atom('en'), {
  get: async () => ({}),
  preprocessors: isPseudo ? [pseudoTranslations] : [],
})

type Message = string | ((values: never) => string)
/** The messages of a part of the page. The language is chosen when the page loads. */
export const defineMessages = <Messages extends Record<string, Message>>(name: string, messages: Messages): Messages =>
  i18n(name, messages as never).get() as unknown as Messages
