import { Store } from '../ui/store.ts'

/** An earlier description that the editor of the open card takes as a draft. */
export const reusedText = new Store<string | undefined>(undefined)
