import { Store } from '../ui/store.ts'

/** The face whose popover is open. */
export const shownPerson = new Store<{ anchor: Element; user_id: string } | undefined>(undefined)

/** Shows who a face on a card is. Returns whether the element is a face. */
export function showPerson(target: EventTarget): boolean {
  const anchor = target instanceof Element ? target.closest<HTMLElement>('[data-person-id]') : null
  const user_id = anchor?.dataset['personId']
  if (!anchor || !user_id) return false
  shownPerson.set({ anchor, user_id })
  return true
}
