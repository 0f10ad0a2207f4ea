/** Smallest part of a multipart upload; all parts but the last have one size (R2 documentation, "Multipart upload"). */
export const PART_BYTES = 5 * 1024 * 1024;

/**
 * Writes an object whose length nobody knows yet: R2 takes a stream only with its length. So it is written in parts, of
 * which one is in memory at a time; what fits into a single part needs no upload of parts.
 */
export class R2Writer {
  readonly #bucket: R2Bucket;
  readonly #key: string;
  readonly #part = new Uint8Array(PART_BYTES);
  #filled = 0;
  #upload: R2MultipartUpload | undefined;
  readonly #uploaded: R2UploadedPart[] = [];

  constructor(bucket: R2Bucket, key: string) {
    this.#bucket = bucket;
    this.#key = key;
  }

  /** Takes more of the object. */
  async write(text: string): Promise<void> {
    let bytes = new TextEncoder().encode(text);
    while (bytes.length > 0) {
      if (this.#filled === PART_BYTES) await this.#uploadPart();
      const taken = bytes.subarray(0, PART_BYTES - this.#filled);
      this.#part.set(taken, this.#filled);
      this.#filled += taken.length;
      bytes = bytes.subarray(taken.length);
    }
  }

  /** Ends the object. Before that nobody sees anything of it. */
  async close(): Promise<void> {
    if (!this.#upload) {
      await this.#bucket.put(this.#key, this.#part.subarray(0, this.#filled));
      return;
    }
    await this.#uploadPart();
    await this.#upload.complete(this.#uploaded);
  }

  /** Aborts the object. R2 itself deletes what a crash leaves behind, after seven days. */
  async abort(): Promise<void> {
    await this.#upload?.abort();
  }

  async #uploadPart(): Promise<void> {
    this.#upload ??= await this.#bucket.createMultipartUpload(this.#key);
    const part = this.#part.subarray(0, this.#filled);
    this.#uploaded.push(await this.#upload.uploadPart(this.#uploaded.length + 1, part));
    this.#filled = 0;
  }
}
