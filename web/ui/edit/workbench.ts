// What the editor of a lab file consists of: each of its parts, and its views and commands, know it.
import { api, type Checked } from "../api";
import { keys } from "../forms";
import type { MapCanvas } from "../map/canvas";
import { attempt } from "../tell";
import { createSignal, listen, onCleanup } from "../view";
import { may } from "../world";
import { type Actions, actions } from "./actions";
import { Checks } from "./checks";
import type { Chosen } from "./chosen";
import { Beginning, EditedFile, type Loaded } from "./file";
import { type GroundView, makeGround } from "./ground";
import { Joining } from "./joining";
import { editMap } from "./map";
import { makeSource, type Source } from "./source";

export interface Workbench {
  path: string;
  canEdit: boolean;
  source: Source;
  file: EditedFile;
  /** What was found in the text, and the text that it was found in. */
  checked: () => Checked | null;
  fresh: () => string;
  chosen: () => Chosen;
  act: Actions;
  joining: Joining;
  map: MapCanvas;
  /** The scene in metres. */
  ground: GroundView;
  /** The number of the job that this page has started and shows. */
  job: () => number | null;
  setJob: (job: number | null) => void;
  save: () => void;
  start: (command: "up" | "run" | "sim") => void;
}

/** Makes all parts, for as long as the view that calls this is there. */
export function makeWorkbench(path: string, loaded: Loaded): Workbench {
  const canEdit = may("edit");
  const beginning = new Beginning(path, loaded);
  const [chosen, setChosen] = createSignal<Chosen>({ nodes: [], links: [] });
  const [job, setJob] = createSignal<number | null>(null);
  const source: Source = makeSource(beginning.text, !canEdit, keys, () => {
    file.changed();
    checks.soon();
  });
  const checks: Checks = new Checks(path, source, () => act.checked());
  const { checked, text: fresh } = checks;
  const act: Actions = actions({
    source,
    checked,
    fresh,
    chosen,
    select: (nodes, links) => map.choose(nodes, links),
    inSight: () => map.middle(),
  });
  const joining = new Joining(chosen, act.join);
  const ground = makeGround({ checked, act });
  const map: MapCanvas = editMap({ path, checked, source, act, joining, choose: setChosen, canEdit });
  const file: EditedFile = new EditedFile({ beginning, source, idle: act.idle, check: () => checks.now() });
  checks.now();
  listen("beforeunload", (event) => {
    if (file.dirty()) event.preventDefault();
  });
  onCleanup(() => {
    if (canEdit) file.leave();
    checks.close();
    source.destroy();
    map.destroy();
  });
  const save = (): void => attempt(() => file.save(), "saved");
  const start = (command: "up" | "run" | "sim"): void =>
    attempt(async () => {
      await act.idle();
      if (file.dirty()) await file.save();
      setJob((await api.start({ command, path })).id);
    });
  return { path, canEdit, source, file, checked, fresh, chosen, act, joining, map, ground, job, setJob, save, start };
}
