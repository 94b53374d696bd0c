// What is chosen on the map of a lab file.

/** What is chosen; a node or link that only got another name is the same still. */
export interface Chosen {
  nodes: string[];
  links: string[];
}

/** Which form a choice has: one of a single node or link follows its name. */
export const formOf = ({ nodes, links }: Chosen): string =>
  nodes.length + links.length === 1 ? (nodes.length === 1 ? "node" : "link") : JSON.stringify([nodes, links]);
