// Where the nodes of a lab that is up are on its map.
import { api, type Scene } from "../api";
import type { Lab } from "../lab";
import { arrange } from "../map/model";

/** Where nodes are: as the lab's file or its results say, else found out here. */
export async function sceneOf(name: string, lab: Lab): Promise<Scene> {
  const topology = lab.topology();
  const row = (await api.labs()).find((one) => one.name === name);
  const known = (scene: Scene | null): scene is Scene =>
    topology !== null &&
    scene !== null &&
    topology.nodes.every((node) => scene.nodes.some((one) => one.name === node.name));
  if (row?.path) {
    const { scene } = await api.check(row.path, null).catch(() => ({ scene: null }));
    if (known(scene)) return scene;
  }
  if (row?.results) {
    const { scene } = await api.result(row.results).catch(() => ({ scene: null }));
    if (known(scene)) return scene;
  }
  return arrange(
    topology?.nodes ?? [],
    (topology?.links ?? []).map((link) => ({ name: link.name, ends: link.ends.map(({ node }) => node) })),
  );
}
