import { Store, useStorePart } from './store.ts'

/** The modal dialogs that are open, the topmost last. Nothing outside of that one can be clicked, or is read aloud. */
export const layers = new Store<readonly HTMLElement[]>([])

/** Where to put what is for everybody: inside the topmost dialog, or beside the page. */
export const useTopLayer = (): HTMLElement => useStorePart(layers, (open) => open.at(-1) ?? document.body)
