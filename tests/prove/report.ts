/** Something that was measured or counted, as a table. */
interface Table {
  columns: string[]
  rows: (string | number)[][]
}
/** A drawing that is kept beside the report. */
interface Picture {
  /** Becomes `<suite>-<name>.svg`. */
  name: string
  svg: string
  caption: string
}
export interface Section {
  heading: string
  text?: string
  table?: Table
  pictures?: Picture[]
}

/** What a suite has to say. It is kept as prose with tables, and as data. */
export interface Report {
  title: string
  /** Sizes, seeds and durations: all that is needed to do it again. */
  setting: Record<string, string | number>
  sections: Section[]
  /** What must not be and was: one sentence each. None: it is proven. */
  violations: string[]
}

/** Says what is going on, while it goes on. */
export type Progress = (line: string) => void
