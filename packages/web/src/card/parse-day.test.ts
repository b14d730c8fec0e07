import { describe, expect, test } from 'vitest'
import { dateWords, parseDay } from './parse-day.ts'

/** A Wednesday. */
const TODAY = '2026-11-18'
const understood = (text: string, locale = 'en-GB', today = TODAY) => parseDay(text, today, dateWords(locale))

describe('[WEB-155] a typed due date', () => {
  test.each([
    ['today', '2026-11-18'],
    ['Tomorrow', '2026-11-19'],
    ['  tomorrow ', '2026-11-19'],
    ['fri', '2026-11-20'],
    ['FRIDAY', '2026-11-20'],
    ['tu', '2026-11-24'],
    // The weekday of today is a week from now: there is a word for today.
    ['wed', '2026-11-25'],
    ['+3d', '2026-11-21'],
    ['3 d', '2026-11-21'],
    ['+2w', '2026-12-02'],
    ['20.11', '2026-11-20'],
    ['20.11.', '2026-11-20'],
    ['20. 11. 2027', '2027-11-20'],
    ['2026-11-20', '2026-11-20'],
    ['2026-1-2', '2026-01-02'],
    ['20 nov', '2026-11-20'],
    ['20 November 2027', '2027-11-20'],
    ['Nov 20, 2027', '2027-11-20'],
    // Without a year it is not in the past.
    ['18.11', '2026-11-18'],
    ['17.11', '2027-11-17'],
    ['3 jan', '2027-01-03'],
    // In the past only if it is written so.
    ['2020-02-29', '2020-02-29'],
    ['none', null],
  ])('[WEB-155] “%s” is %s', (text, day) => {
    expect(understood(text)).toBe(day)
  })

  test.each([
    ['en-US', '2026-11-12'],
    ['en-GB', '2026-12-11'],
    ['de', '2026-12-11'],
    ['ja', '2026-11-12'],
  ])('[WEB-155] “11/12” follows the language %s: %s', (locale, day) => {
    expect([understood('11/12', locale, '2026-01-01'), understood(`11/12/2026`, locale)]).toEqual([day, day])
  })

  test.each([
    ['de', ['heute', 'morgen', 'fr', 'freitag', '20. nov', '20. november', 'fri', 'today']],
    ['fr', ["aujourd'hui", 'demain', 'ven', 'vendredi', '20 nov', '20 novembre', 'fri', 'today']],
    ['pl', ['dzisiaj', 'jutro', 'pt', 'piątek', '20 lis', '20 listopada', 'fri', 'today']],
    ['pt-BR', ['hoje', 'amanhã', 'sex', 'sexta-feira', '20 de nov', '20 de novembro', 'fri', 'today']],
    ['ja', ['今日', '明日', '金', '金曜日', '11/20', '2026-11-20', 'fri', 'today']],
  ])('[WEB-155] words may be English or of the language %s', (locale, texts) => {
    const [today, tomorrow, friday] = [TODAY, '2026-11-19', '2026-11-20']
    expect(texts.map((text) => understood(text, locale))).toEqual([
      today,
      tomorrow,
      friday,
      friday,
      friday,
      friday,
      friday,
      today,
    ])
  })

  test('[WEB-155] other texts are not understood', () => {
    const others = [
      '',
      ' ',
      't',
      'soon',
      'friend',
      '31.11',
      '20/11/26x',
      '13/13',
      '2026-02-29',
      '29.2',
      '+d',
      '+1000d',
      '1969-12-31',
      '3000-01-01',
      '20 n',
      '20 jun jul',
      'ju 3',
      '#12',
    ]
    expect(others.filter((text) => understood(text) !== undefined)).toEqual([])
    expect(understood('20/11', 'en-US')).toBeUndefined()
  })
})
