export {
  addDays,
  type Day,
  daysBetween,
  localDay,
  makeDay,
  nextMidnight,
  startOfMonth,
  weekdayOf,
  yearOf,
} from './day.ts'
export { type DateWords, dateWords, parseDay, withoutTime } from './parse-day.ts'
