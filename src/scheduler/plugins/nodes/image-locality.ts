import type { DeepReadonly } from "../../../apimachinery/json.ts";
import type { Pod } from "../../../api/core-v1/types.ts";
import type { Plugin } from "../../framework/plugin.ts";

/** Nodes that have the pod's images are better, by the images' sizes; images on few nodes count less, so that not all pods go there. */
export const imageLocality: Plugin = {
  name: "ImageLocality",
  preScore({ pod: { pod }, snapshot }) {
    const images = imagesOf(pod);
    const known = images.filter((name) => snapshot.imageNodes(name) > 0);
    if (known.length === 0) return "skip";
    const total = snapshot.nodes.length;
    const highest = highestPerImage * images.length;
    return {
      score(node) {
        let sum = 0;
        for (const name of known) {
          const size = node.images.get(name);
          if (size !== undefined) sum += Math.trunc(size * (snapshot.imageNodes(name) / total));
        }
        const counted = Math.min(Math.max(sum, lowest), highest);
        return Math.trunc((100 * (counted - lowest)) / (highest - lowest));
      },
    };
  },
};

const mebibyte = 1024 * 1024;
const lowest = 23 * mebibyte;
const highestPerImage = 1000 * mebibyte;

/** Of containers, init containers and image volumes, with the tag that is meant when there is none. */
function imagesOf(pod: DeepReadonly<Pod>): readonly string[] {
  const { containers = [], initContainers = [], volumes = [] } = pod.spec ?? {};
  const names = [...initContainers.map(({ image }) => image), ...containers.map(({ image }) => image), ...volumes.map(({ image }) => image?.reference)];
  return names.filter((name) => name !== undefined).map((name) => (name.lastIndexOf(":") <= name.lastIndexOf("/") ? `${name}:latest` : name));
}
