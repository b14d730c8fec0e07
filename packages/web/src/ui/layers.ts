/** The open dialogs, popovers and menus, outermost first. Page shortcuts do not act while one is open. */
export const openLayers = (): NodeListOf<HTMLElement> => document.querySelectorAll<HTMLElement>('.layer')
