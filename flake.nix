{
  description = "Netloom, a network emulator with a verdict";
  inputs.nixpkgs.url = "nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }: {
    packages = nixpkgs.lib.genAttrs [ "x86_64-linux" "aarch64-linux" ] (system:
      let pkgs = nixpkgs.legacyPackages.${system}; in {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "netloom";
          version = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          buildAndTestSubdir = "crates/cli";
          doCheck = false;
          postPatch = "patchShebangs scripts";
          installPhase = "scripts/install-files target/${pkgs.stdenv.hostPlatform.rust.rustcTarget}/release/netloom $out";
        };
      });
  };
}
