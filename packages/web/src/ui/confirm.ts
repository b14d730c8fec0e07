import { Store } from './store.ts'

export interface Question {
  title: string
  text?: string | undefined
  /** The label of the button that confirms. */
  action: string
  resolve: (isConfirmed: boolean) => void
}
export const question = new Store<Question | undefined>(undefined)

/** Asks before an action that cannot be undone. */
export const confirmAction = (asked: Omit<Question, 'resolve'>): Promise<boolean> =>
  new Promise((resolve) => {
    question.get()?.resolve(false)
    question.set({ ...asked, resolve })
  })
