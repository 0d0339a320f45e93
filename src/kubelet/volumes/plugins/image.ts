/** Volumes that are an image's files (API reference "ImageVolumeSource"): mounted when a container is about to start, after the pull. */
import type { ImageMounts } from "../../images/image-mounts.ts";
import { VolumeError } from "../volume.ts";
import type { VolumePlugin } from "./volume-plugin.ts";

/** `images`: absent where no runtime has files of images. */
export function imagePlugin(images: ImageMounts | undefined): VolumePlugin {
  return {
    folder: "kubernetes.io~image",
    async setUp({ directory }) {
      if (images === undefined) throw new VolumeError("image volumes need containers: this node runs local processes");
      return { path: directory, isReadOnly: true, isBlock: false };
    },
    async tearDown({ directory }) {
      await images?.unmount(directory);
    },
  };
}
