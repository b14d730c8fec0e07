import { describe, expect, test } from 'vitest'
import { dateWords, parseDay, withoutTime } from './parse-day.ts'

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
    ['in 3 days', '2026-11-21'],
    ['in a day', '2026-11-19'],
    ['in 2 weeks', '2026-12-02'],
    ['2 weeks', '2026-12-02'],
    // The week that begins on the next Monday.
    ['next week', '2026-11-23'],
    ['next monday', '2026-11-23'],
    ['next wed', '2026-11-25'],
    ['Next Friday', '2026-11-27'],
    ['next sun', '2026-11-29'],
    ['eow', '2026-11-20'],
    ['end of week', '2026-11-20'],
    ['end of the week', '2026-11-20'],
    ['eom', '2026-11-30'],
    ['end of this month', '2026-11-30'],
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

  test.each([
    ['2026-11-20', 'eow', '2026-11-20'],
    ['2026-11-21', 'eow', '2026-11-27'],
    ['2026-11-22', 'next week', '2026-11-23'],
    ['2026-11-23', 'next week', '2026-11-30'],
    ['2026-11-23', 'next mon', '2026-11-30'],
    ['2026-11-30', 'eom', '2026-11-30'],
    ['2026-12-01', 'end of month', '2026-12-31'],
    ['2028-02-10', 'end of month', '2028-02-29'],
  ])('[WEB-155] on %s, “%s” is %s', (today, text, day) => {
    expect(understood(text, 'en-GB', today)).toBe(day)
  })

  test.each([
    ['tomorrow 5pm', 'tomorrow'],
    ['fri, 17:00', 'fri'],
    ['Next Monday at 9:30 am', 'Next Monday'],
    ['5 p.m. today', 'today'],
    ['20 nov 2027', undefined],
    ['20.11', undefined],
    ['+3d', undefined],
    ['2026-11-20', undefined],
  ])('[WEB-155] “%s” has a time of day beside “%s”, which a due date has not', (text, rest) => {
    expect(withoutTime(text)).toBe(rest)
    if (rest) expect([understood(text), typeof understood(rest)]).toEqual([undefined, 'string'])
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
      'next',
      'next nov',
      'in days',
      'end of',
      'ad',
      'toString',
      'constructor',
    ]
    expect(others.filter((text) => understood(text) !== undefined)).toEqual([])
    expect(understood('20/11', 'en-US')).toBeUndefined()
  })
})
