import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** A place in a source file. */
export interface SourcePlace {
  /** Absolute path. */
  file: string;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
}

/** A line of a stack of V8, in a file: `at run (file:///…/entry.js:12:5)`. */
const FRAME = /(file:\/\/\S+?):(\d+):(\d+)\)?$/;

/**
 * Finds the place in the sources below a folder that a stack comes from. Wrangler writes the map of a bundle beside it,
 * and both are gone once the bundle is replaced (measured locally with wrangler 4.156.2): ask soon.
 */
export class SourcePlaces {
  readonly #folder: string;
  readonly #maps = new Map<string, SourceMap | null>();

  /** @param folder absolute path */
  constructor(folder: string) {
    this.#folder = folder + sep;
  }

  /** The first place of the stack that is in the folder, or null. */
  placeOf(stack: string): SourcePlace | null {
    for (const line of stack.split("\n")) {
      const [, url, at, column] = FRAME.exec(line.trim()) ?? [];
      const place = url && this.#original(fileURLToPath(url), Number(at), Number(column));
      if (place && place.file.startsWith(this.#folder)) return place;
    }
    return null;
  }

  #original(bundle: string, line: number, column: number): SourcePlace | null {
    const map = this.#mapOf(bundle);
    if (!map) return null;
    const origin = map.findOrigin(line, column);
    if (!("fileName" in origin)) return null;
    const file = resolve(dirname(bundle), origin.fileName);
    return { file, line: origin.lineNumber, column: origin.columnNumber };
  }

  #mapOf(bundle: string): SourceMap | null {
    let map = this.#maps.get(bundle);
    if (map === undefined) {
      try {
        map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, "utf8")));
      } catch {
        map = null;
      }
      this.#maps.set(bundle, map);
    }
    return map;
  }
}
